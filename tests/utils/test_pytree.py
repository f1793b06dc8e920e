"""Nested containers taken apart and put together."""

from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest

import vivace as torch
from vivace.utils import _pytree as pytree

Point = namedtuple("Point", "x y")

TREES = [
    5,
    None,
    [1, (2, [3]), {}],
    {"b": 1, "a": [2]},
    OrderedDict(z=1, y=(2,)),
    Point(1, [2, 3]),
    deque([1, 2], maxlen=4),
    defaultdict(list, a=1),
]


@pytest.mark.parametrize("tree", TREES, ids=repr)
def test_there_and_back(tree):
    leaves, spec = pytree.tree_flatten(tree)
    back = pytree.tree_unflatten(leaves, spec)
    assert back == tree and type(back) is type(tree)
    assert spec.num_leaves == len(leaves) and spec == pytree.tree_structure(tree)
    assert pytree.tree_leaves(tree) == leaves == list(pytree.tree_iter(tree))


def test_named_results_of_operators():
    leaves, spec = pytree.tree_flatten(torch.tensor([3.0, 1.0]).sort())
    assert [leaf.tolist() for leaf in leaves] == [[1.0, 3.0], [1, 0]]
    back = pytree.tree_unflatten(leaves, spec)
    assert type(back).__name__ == "sort" and back.indices.tolist() == [1, 0]
    assert torch.vmap(torch.sort)(torch.tensor([[3.0, 1.0], [0.0, 2.0]])).indices.tolist() == [[1, 0], [0, 1]]


def test_order_and_counts():
    leaves, spec = pytree.tree_flatten({"b": [1, (2, None)], "a": 3})
    assert leaves == [1, 2, None, 3]
    assert (spec.num_leaves, spec.num_nodes, spec.num_children) == (4, 7, 2)
    assert repr(pytree.tree_structure([0, (1,)])) == "TreeSpec(list, None, [*, TreeSpec(tuple, None, [*])])"


def test_maps():
    assert pytree.tree_map(lambda x: x + 1, [1, (2, {"a": 3})]) == [2, (3, {"a": 4})]
    assert pytree.tree_map(lambda x, y: x - y, {"a": 1, "b": 2}, {"b": 20, "a": 10}) == {"a": -9, "b": -18}
    assert pytree.tree_map_only(int, str, [1, "a", 2.0]) == ["1", "a", 2.0]
    assert pytree.tree_map_only(lambda x: x == 1, str, [1, 2]) == ["1", 2]
    assert pytree.tree_map(len, [[1, 2], [3]], is_leaf=lambda x: x and isinstance(x[0], int)) == [2, 1]
    seen = []
    tree = [1, [2]]
    assert pytree.tree_map_(seen.append, tree) is tree and seen == [1, 2]
    assert pytree.tree_all(bool, tree) and not pytree.tree_any(lambda x: x > 2, tree)
    assert pytree.tree_all_only(int, bool, ["", 1]) and not pytree.tree_any_only(str, bool, ["", 1])


def test_trees_that_differ():
    spec = pytree.tree_structure([0, {"x": 0}])
    with pytest.raises(ValueError, match="`leaves` has length 1 but the spec refers to a pytree that holds 2 items"):
        pytree.tree_unflatten([1], spec)
    with pytest.raises(TypeError, match="expected a TreeSpec"):
        pytree.tree_unflatten([1], None)
    for other, text in (
        ([1, (2,)], "Type mismatch"),
        ([1], "arity mismatch"),
        ([1, {"y": 2}], "keys mismatch"),
    ):
        with pytest.raises(ValueError, match=text):
            pytree.tree_map(max, [0, {"x": 0}], other)


def test_classes_can_be_registered():
    class Pair:
        def __init__(self, a, b):
            self.both = [a, b]

    pytree.register_pytree_node(Pair, lambda p: (p.both, None), lambda both, _: Pair(*both))
    assert pytree.tree_map(lambda x: x * 2, [Pair(1, [2])])[0].both == [2, [4]]
    with pytest.raises(ValueError, match="already registered"):
        pytree.register_pytree_node(Pair, None, None)
