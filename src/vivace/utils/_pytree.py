"""torch.utils._pytree: nested containers as a list of leaves and a TreeSpec that says how to put them back.

Tuples, lists, dicts, OrderedDicts, defaultdicts, deques, named tuples (those of operators, too) and what is
registered here are containers; everything else is a leaf.
"""

from collections import OrderedDict, defaultdict, deque, namedtuple
from functools import cached_property

__all__ = [
    "LeafSpec",
    "PyTree",
    "TreeSpec",
    "register_pytree_node",
    "tree_all",
    "tree_all_only",
    "tree_any",
    "tree_any_only",
    "tree_flatten",
    "tree_iter",
    "tree_leaves",
    "tree_map",
    "tree_map_",
    "tree_map_only",
    "tree_map_only_",
    "tree_structure",
    "tree_unflatten",
]

PyTree = object
NodeDef = namedtuple("NodeDef", ["type", "flatten_fn", "unflatten_fn"])
SUPPORTED_NODES = {}


def register_pytree_node(cls, flatten_fn, unflatten_fn, **names):
    """Makes a class a container: flatten_fn(object) gives (children, context), unflatten_fn(children, context) an
    object. The names that PyTorch's serialization uses are accepted."""
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn)


_register_pytree_node = register_pytree_node


def _register_mapping(cls, make, context=lambda d: list(d)):
    register_pytree_node(cls, lambda d: (list(d.values()), context(d)), make)


register_pytree_node(tuple, lambda t: (list(t), None), lambda children, _: tuple(children))
register_pytree_node(list, lambda t: (t, None), lambda children, _: list(children))
register_pytree_node(deque, lambda d: (list(d), d.maxlen), lambda children, maxlen: deque(children, maxlen))
register_pytree_node(
    namedtuple,
    lambda t: (list(t), type(t)),
    lambda children, kind: kind(*children) if hasattr(kind, "_fields") else kind(children),
)
_register_mapping(dict, lambda children, keys: dict(zip(keys, children, strict=True)))
_register_mapping(OrderedDict, lambda children, keys: OrderedDict(zip(keys, children, strict=True)))
_register_mapping(
    defaultdict,
    lambda children, context: defaultdict(context[0], zip(context[1], children, strict=True)),
    lambda d: [d.default_factory, list(d)],
)


def _node_type(tree):
    kind = type(tree)
    if not isinstance(tree, tuple) or kind in SUPPORTED_NODES:
        return kind
    # What max() and its like return has n_sequence_fields.
    return namedtuple if hasattr(kind, "_fields") or hasattr(kind, "n_sequence_fields") else kind


class TreeSpec:
    """The containers of a tree: `type`, its `context`, and the specs of the children."""

    def __init__(self, type, context, children_specs):
        self.type = type
        self.context = context
        self.children_specs = children_specs

    @cached_property
    def num_leaves(self):
        return sum([child.num_leaves for child in self.children_specs])

    @cached_property
    def num_nodes(self):
        return 1 + sum([child.num_nodes for child in self.children_specs])

    @property
    def num_children(self):
        return len(self.children_specs)

    def is_leaf(self):
        return False

    def unflatten(self, leaves):
        """The tree with these leaves."""
        return tree_unflatten(leaves, self)

    def flatten_up_to(self, tree):
        """The parts of a tree that stand where this one has leaves; a ValueError where its containers differ."""
        if _node_type(tree) is not self.type:
            raise ValueError(f"Type mismatch; expected {self.type!r}, but got {type(tree)!r}.")
        children, context = SUPPORTED_NODES[self.type].flatten_fn(tree)
        if self.type in (dict, OrderedDict):
            if set(context) != set(self.context):
                raise ValueError(f"Node keys mismatch; expected {self.context!r}, but got {context!r}.")
            children = [tree[key] for key in self.context]
        elif len(children) != self.num_children:
            raise ValueError(f"Node arity mismatch; expected {self.num_children}, but got {len(children)}.")
        parts = (spec.flatten_up_to(child) for spec, child in zip(self.children_specs, children, strict=True))
        return [leaf for part in parts for leaf in part]

    def _state(self):
        return self.type, self.context, self.children_specs

    def __eq__(self, other):
        return isinstance(other, TreeSpec) and self._state() == other._state()

    def __hash__(self):
        return hash((self.type, str(self.context), tuple(self.children_specs)))

    def __repr__(self):
        return f"TreeSpec({self.type.__name__}, {self.context!r}, {self.children_specs!r})"


class LeafSpec(TreeSpec):
    """The place of a leaf."""

    num_leaves = 1
    num_nodes = 1

    def __init__(self):
        super().__init__(None, None, [])

    def is_leaf(self):
        return True

    def flatten_up_to(self, tree):
        return [tree]

    def __repr__(self):
        return "*"


_LEAF = LeafSpec()


def tree_flatten(tree, is_leaf=None):
    """The leaves, left to right, and the TreeSpec. `is_leaf(node)` may stop at a container."""
    leaves = []
    return leaves, _visit(tree, is_leaf, leaves.append)


def _visit(node, is_leaf, found):
    definition = SUPPORTED_NODES.get(type(node))
    if definition is None and isinstance(node, tuple):
        definition = SUPPORTED_NODES.get(_node_type(node))
    if definition is None or (is_leaf is not None and is_leaf(node)):
        found(node)
        return _LEAF
    children, context = definition.flatten_fn(node)
    return TreeSpec(definition.type, context, [_visit(child, is_leaf, found) for child in children])


def tree_unflatten(leaves, treespec):
    """The tree that tree_flatten took apart, with other leaves."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"tree_unflatten(leaves, treespec): expected a TreeSpec but got {type(treespec)}.")
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(
            f"tree_unflatten(leaves, treespec): `leaves` has length {len(leaves)} but the spec refers to a pytree that "
            f"holds {treespec.num_leaves} items ({treespec})."
        )
    return _build(treespec, iter(leaves))


def _build(spec, leaves):
    if spec is _LEAF or spec.is_leaf():
        return next(leaves)
    children = [_build(child, leaves) for child in spec.children_specs]
    return SUPPORTED_NODES[spec.type].unflatten_fn(children, spec.context)


def tree_iter(tree, is_leaf=None):
    """The leaves, one by one."""
    yield from tree_flatten(tree, is_leaf)[0]


def tree_leaves(tree, is_leaf=None):
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree, is_leaf=None):
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func, tree, *rests, is_leaf=None):
    """The tree with func(leaf, what the other trees have in its place) for each leaf."""
    leaves, spec = tree_flatten(tree, is_leaf)
    return tree_unflatten(map(func, leaves, *(spec.flatten_up_to(rest) for rest in rests)), spec)


def tree_map_(func, tree, *rests, is_leaf=None):
    """Calls func as tree_map does, and gives the tree itself."""
    leaves, spec = tree_flatten(tree, is_leaf)
    for arguments in zip(leaves, *(spec.flatten_up_to(rest) for rest in rests), strict=True):
        func(*arguments)
    return tree


def _only(type_or_types, func):
    test = (lambda x: isinstance(x, type_or_types)) if isinstance(type_or_types, (type, tuple)) else type_or_types
    return lambda x: func(x) if test(x) else x


def tree_map_only(type_or_types_or_pred, func, tree, is_leaf=None):
    """tree_map for leaves of some types, or those that satisfy a condition."""
    return tree_map(_only(type_or_types_or_pred, func), tree, is_leaf=is_leaf)


def tree_map_only_(type_or_types_or_pred, func, tree, is_leaf=None):
    return tree_map_(_only(type_or_types_or_pred, func), tree, is_leaf=is_leaf)


def tree_all(pred, tree, is_leaf=None):
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred, tree, is_leaf=None):
    return any(map(pred, tree_leaves(tree, is_leaf)))


def tree_all_only(type_or_types, pred, tree, is_leaf=None):
    return all(pred(x) for x in tree_leaves(tree, is_leaf) if isinstance(x, type_or_types))


def tree_any_only(type_or_types, pred, tree, is_leaf=None):
    return any(pred(x) for x in tree_leaves(tree, is_leaf) if isinstance(x, type_or_types))


def _broadcast_to_and_flatten(tree, treespec, is_leaf=None):
    """The leaves of a tree that stops earlier than the spec: each repeated for all leaves below its place; None where
    the containers differ."""
    if _node_type(tree) not in SUPPORTED_NODES or (is_leaf is not None and is_leaf(tree)):
        return [tree] * treespec.num_leaves
    if treespec.is_leaf():
        return None
    children, context = SUPPORTED_NODES[_node_type(tree)].flatten_fn(tree)
    if (_node_type(tree), context, len(children)) != (treespec.type, treespec.context, treespec.num_children):
        return None
    parts = [
        _broadcast_to_and_flatten(child, spec, is_leaf)
        for child, spec in zip(children, treespec.children_specs, strict=True)
    ]
    return None if None in parts else [leaf for part in parts for leaf in part]
