"""torch.return_types: the classes of results with names, and their pickles."""

import copy

import vivace as torch


def test_results_are_of_the_public_classes():
    x = torch.eye(2)
    for name, result in {
        "max": x.max(0),
        "min": x.min(0),
        "sort": x.sort(),
        "topk": x.topk(1),
        "linalg_svd": torch.linalg.svd(x),
        "linalg_slogdet": torch.linalg.slogdet(x),
        "aminmax": x.aminmax(),
    }.items():
        assert type(result) is getattr(torch.return_types, name), name
    assert type(torch.sort(x, stable=True)) is type(torch.sort(x))
    assert "max" in torch.return_types.__all__


def test_classes_make_results():
    made = torch.return_types.max((torch.ones(1), torch.zeros(1)))
    assert made.values.item() == 1 and made.indices.item() == 0 and len(made) == 2


def test_copies():
    result = torch.tensor([1.0, 2.0]).max(0)
    for other in (copy.copy(result), copy.deepcopy(result)):
        assert type(other) is type(result) and other.values.item() == 2 and other.indices.item() == 1
