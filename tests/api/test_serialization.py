"""save and load: round trips, shared storages, files of PyTorch (tests/data/checkpoint.pt), and what is refused."""

from __future__ import annotations

import collections
import fractions
import io
import operator
import pickle
import pickletools
import zipfile
from pathlib import Path
from typing import Any

import pytest

CHECKPOINT = Path(__file__).parents[1] / "data" / "checkpoint.pt"
OLD_CHECKPOINT = CHECKPOINT.with_name("checkpoint_old.pt")  # in the format before 1.6
DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "bfloat16")
DTYPES += ("float32", "float64", "complex64", "complex128")


def round_trip(torch: Any, obj: Any, **options: Any) -> Any:
    file = io.BytesIO()
    torch.save(obj, file)
    file.seek(0)
    return torch.load(file, **options)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(module: Any, dtype: str) -> None:
    t = module.arange(6).to(getattr(module, dtype)).view(2, 3).t()
    back = round_trip(module, t)
    assert back.dtype == t.dtype
    assert back.stride() == t.stride()
    assert back.tolist() == t.tolist()


def test_containers(module: Any) -> None:
    obj = {
        "numbers": [1, 2.5, True, None, 10**30, 1 + 2j],
        "text": ("x", b"y"),
        "set": {1, 2},
        "ordered": collections.OrderedDict(a=1),
        "types": [module.float32, module.Size([2, 3]), module.device("cpu")],
    }
    assert round_trip(module, obj) == obj


def test_shared_storage_stays_shared(module: Any) -> None:
    base = module.arange(100.0)
    a, b = round_trip(module, [base, base[::2]])
    a[0] = 99
    assert b[0].item() == 99


def test_parameters_and_state_dict(module: Any) -> None:
    model = module.nn.Linear(3, 4)
    optimizer = module.optim.Adam(model.parameters())
    model(module.rand(2, 3)).sum().backward()
    optimizer.step()
    back = round_trip(module, {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "w": model.weight})
    other = module.nn.Linear(3, 4)
    other.load_state_dict(back["model"])
    assert other.weight.tolist() == model.weight.tolist()
    assert isinstance(back["w"], module.nn.Parameter)
    assert back["w"].requires_grad
    assert back["optimizer"]["param_groups"] == optimizer.state_dict()["param_groups"]


def test_whole_module_needs_trust(module: Any) -> None:
    model = module.nn.Sequential(module.nn.Linear(2, 3), module.nn.ReLU())
    with pytest.raises(pickle.UnpicklingError, match="not an allowed global"):
        round_trip(module, model)
    x = module.rand(4, 2)
    assert round_trip(module, model, weights_only=False)(x).tolist() == model(x).tolist()


def test_environment_decides_about_trust(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = collections.deque([1, 2])
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    assert round_trip(module, queue) == queue
    with pytest.raises(pickle.UnpicklingError):
        round_trip(module, queue, weights_only=True)
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "1")
    with pytest.raises(RuntimeError, match="both"):
        round_trip(module, queue)
    monkeypatch.delenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    with pytest.raises(pickle.UnpicklingError):
        round_trip(module, queue, weights_only=False)


def test_state_of_modules_is_what_pytorch_expects(module: Any) -> None:
    hooks = {
        "_backward_hooks",
        "_forward_hooks",
        "_forward_pre_hooks",
        "_state_dict_hooks",
        "_load_state_dict_pre_hooks",
    }
    members = {"_parameters", "_buffers", "_modules", "training", "_is_full_backward_hook"}
    assert hooks | members <= module.nn.ReLU().__getstate__().keys()
    state = module.nn.LSTM(2, 3, 2, bidirectional=True).__getstate__()
    assert state["_all_weights"][1] == [
        f"{name}_l0_reverse" for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    ]
    assert len(state["_flat_weights"]) == 16
    activations = {"relu": 1, module.nn.GELU(): 2, module.nn.functional.silu: 0}
    for activation, kind in activations.items():
        assert module.nn.TransformerEncoderLayer(4, 2, 8, activation=activation).activation_relu_or_gelu == kind


def test_hooks_of_loaded_modules_run(module: Any) -> None:
    layer = round_trip(module, module.nn.LSTM(2, 3), weights_only=False)
    assert len(layer._flat_weights) == 4
    seen: list[Any] = []
    layer.register_forward_hook(lambda *given: seen.append(given))
    layer(module.rand(5, 1, 2))
    assert len(seen) == 1


def test_reads_a_file_of_pytorch(module: Any) -> None:
    state = module.load(CHECKPOINT)
    assert list(state) == ["weight", "half", "index", "nested"]
    assert state["weight"].tolist() == [[0.0, 0.5, 1.0], [1.5, 2.0, 2.5]]
    assert state["weight"].requires_grad
    assert state["half"].dtype == module.bfloat16
    assert state["index"].tolist() == [0, 2, 4]
    assert state["nested"] == {"epoch": 3, "name": "x", "shape": module.Size([2, 3])}


@pytest.mark.parametrize("weights_only", [True, False])
def test_reads_an_old_file_of_pytorch(module: Any, weights_only: bool) -> None:
    state = module.load(OLD_CHECKPOINT, weights_only=weights_only)
    assert list(state) == ["weight", "half", "index", "nested", "tail"]
    assert state["weight"].tolist() == [[0.0, 0.5, 1.0], [1.5, 2.0, 2.5]] and state["weight"].requires_grad
    assert state["half"].dtype == module.bfloat16 and state["half"].tolist() == [1, 2.5]
    assert state["index"].tolist() == [0, 2, 4] and state["tail"].tolist() == [5, 6, 7, 8, 9]
    state["tail"].fill_(0)
    assert state["index"].as_strided((6,), (1,)).tolist() == [0, 1, 2, 3, 4, 0]  # one storage
    assert state["nested"] == {"epoch": 3, "name": "x", "shape": module.Size([2, 3])}
    assert module.load(OLD_CHECKPOINT, map_location="meta")["weight"].is_meta


def test_old_formatround_trip(module: Any, tmp_path: Path) -> None:
    t = module.arange(4.0)
    obj = {"a": t, "b": t[2:], "c": module.ones(2, dtype=module.int16), "d": module.empty(0), "e": "text"}
    file = io.BytesIO()
    for target in (tmp_path / "old.pt", file):
        module.save(obj, target, _use_new_zipfile_serialization=False)
    file.seek(0)
    for back in (module.load(tmp_path / "old.pt"), module.load(file)):
        assert back["e"] == "text" and [back[key].tolist() for key in "abcd"] == [[0, 1, 2, 3], [2, 3], [1, 1], []]
        assert back["a"].untyped_storage().data_ptr() == back["b"].untyped_storage().data_ptr()


def test_old_format_runs_no_code_and_notices_an_early_end(module: Any, capsys: pytest.CaptureFixture[str]) -> None:
    file = io.BytesIO()
    module.save([print, module.ones(2)], file, _use_new_zipfile_serialization=False)
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        module.load(io.BytesIO(file.getvalue()))
    assert capsys.readouterr().out == ""
    with pytest.raises(RuntimeError):
        module.load(io.BytesIO(file.getvalue()[:-2]), weights_only=False)


def test_names_of_storages_on_gpus(module: Any) -> None:
    """As files have them that PyTorch before 1.11 wrote there."""
    content = OLD_CHECKPOINT.read_bytes().replace(b"ctorch\nFloatStorage", b"ctorch.cuda\nFloatStorage")
    assert content != OLD_CHECKPOINT.read_bytes()
    assert module.load(io.BytesIO(content), map_location="cpu")["weight"].tolist()[1] == [1.5, 2.0, 2.5]


def test_pickles_name_what_pytorch_has(module: Any) -> None:
    file = io.BytesIO()
    layer = module.nn.TransformerEncoderLayer(4, 2, 8, activation=module.nn.functional.leaky_relu)
    schedule = module.optim.lr_scheduler.OneCycleLR
    module.save([layer, module.optim.lr_scheduler.CyclicLR, schedule, module.celu, module.bilinear], file)
    with zipfile.ZipFile(file) as archive:
        code = archive.read(next(name for name in archive.namelist() if name.endswith("data.pkl")))
    names = {argument for opcode, argument, _ in pickletools.genops(code) if opcode.name == "GLOBAL"}
    assert names >= {
        "torch.nn.functional leaky_relu",
        "torch.nn.modules.activation MultiheadAttention",
        "torch.optim.lr_scheduler CyclicLR",
        "torch.optim.lr_scheduler OneCycleLR",
        "torch celu",
        "torch bilinear",
    }
    private = {name for name in names if "._" in name} - {name for name in names if name.startswith("torch._utils ")}
    assert not private


class Evil:
    def __reduce__(self) -> Any:
        return (print, ("should not happen",))


def test_code_is_not_run(module: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(pickle.UnpicklingError, match=r"builtins\.print"):
        round_trip(module, Evil())
    assert capsys.readouterr().out == ""


def test_safe_globals(module: Any) -> None:
    with module.serialization.safe_globals([collections.deque]):
        assert round_trip(module, collections.deque([1, 2])) == collections.deque([1, 2])
    with pytest.raises(pickle.UnpicklingError):
        round_trip(module, collections.deque([1, 2]))


def test_safe_globals_of_torch(module: Any) -> None:
    nn = module.nn
    layer = nn.TransformerEncoderLayer(4, 2, 8)
    names = ("activation.MultiheadAttention", "dropout.Dropout", "linear.Linear", "normalization.LayerNorm")
    names += ("linear.NonDynamicallyQuantizableLinear", "transformer.TransformerEncoderLayer")
    modules = [operator.attrgetter(name)(nn.modules) for name in names]
    with module.serialization.safe_globals([nn.functional.relu, *modules]):
        assert nn.functional.relu in module.serialization.get_safe_globals()
        back = round_trip(module, layer.eval())
    x = module.rand(1, 3, 4)
    assert back(x).tolist() == layer(x).tolist()


def test_map_location(module: Any) -> None:
    t = module.ones(2)
    for where in ("cpu", module.device("cpu"), {"cpu": "cpu"}, lambda storage, location: storage):
        assert round_trip(module, t, map_location=where).tolist() == [1, 1]


def test_map_location_meta(module: Any) -> None:
    back = round_trip(
        module, {"t": module.ones(2, 3).t(), "p": module.nn.Parameter(module.ones(2))}, map_location="meta"
    )
    assert (back["t"].device.type, back["t"].shape, back["t"].stride()) == ("meta", (3, 2), (1, 3))
    assert isinstance(back["p"], module.nn.Parameter) and back["p"].is_meta


def test_sparse_tensors(module: Any) -> None:
    sparse = module.sparse_coo_tensor([[0, 2], [1, 0]], [1.5, 2.5], (3, 2)).coalesce()
    back = round_trip(module, sparse)
    assert back.is_sparse and back.is_coalesced() and module.equal(back.to_dense(), sparse.to_dense())
    assert round_trip(module, sparse.layout) is module.sparse_coo


def test_folder_that_is_missing(module: Any, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="does not exist"):
        module.save(1, tmp_path / "missing" / "file.pt")
    with pytest.raises(EOFError):
        module.load(io.BytesIO())


def test_broken_files(module: Any) -> None:
    for content in (b"", b"no archive" * 100):
        with pytest.raises((RuntimeError, EOFError, pickle.UnpicklingError)):
            module.load(io.BytesIO(content))
    with pytest.raises(FileNotFoundError):
        module.load("/nonexistent/file.pt")


def test_storage_too_short_for_its_tensor(module: Any) -> None:
    with pytest.raises(RuntimeError):
        module._C._tensor_over(module.float32, module.ones(4).untyped_storage(), 1, (2, 2), (2, 1))


def test_tensors_without_memory(module: Any) -> None:
    t = module.empty_strided((2, 3), (1, 2), dtype=module.float16, device="meta").requires_grad_()
    loaded = round_trip(module, {"t": t, "p": module.nn.Parameter(module.ones(2, device="meta"))})
    ours = loaded["t"]
    assert ours.is_meta and ours.dtype == module.float16 and ours.stride() == (1, 2) and ours.requires_grad
    assert type(loaded["p"]) is module.nn.Parameter and loaded["p"].is_meta


def test_files_without_data(module: Any) -> None:
    serialization = module.serialization
    full, empty = io.BytesIO(), io.BytesIO()
    module.save(module.ones(100), full)
    with serialization.skip_data():
        module.save(module.ones(100), empty)
    assert len(full.getvalue()) == len(empty.getvalue())
    empty.seek(0)
    assert module.load(empty).tolist() == [0] * 100


def test_what_a_file_may_not_name(module: Any) -> None:
    serialization = module.serialization
    for protocol in (2, 4):
        file = io.BytesIO()
        module.save({"t": module.ones(2), "f": fractions.Fraction(1, 2)}, file, pickle_protocol=protocol)
        assert serialization.get_unsafe_globals_in_checkpoint(file) == ["fractions.Fraction"]
        with serialization.safe_globals([fractions.Fraction]):
            assert serialization.get_unsafe_globals_in_checkpoint(file) == []


def test_places_and_orders_of_bytes(module: Any) -> None:
    serialization = module.serialization
    storage = module.ones(1).untyped_storage()
    assert serialization.location_tag(storage) == "cpu"
    assert serialization.default_restore_location(storage, "cpu") is storage
    assert serialization.get_default_load_endianness() is None
    with pytest.raises(TypeError, match="set_default_load_endianness"):
        serialization.set_default_load_endianness("little")
    try:
        serialization.set_default_load_endianness(serialization.LoadEndianness.BIG)
        assert round_trip(module, module.ones(1)).item() == 1  # the file says what it is
    finally:
        serialization.set_default_load_endianness(None)
