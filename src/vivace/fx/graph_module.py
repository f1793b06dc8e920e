"""torch.fx.graph_module: names that packages import; what would make a graph refuses."""

from vivace._lazy import refusing
from vivace.fx import _SENTENCE
from vivace.fx import GraphModule as GraphModule

_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"
_refused = refusing(__name__, _SENTENCE)
_CodeOnlyModule, _copy_attr = _refused("_CodeOnlyModule"), _refused("_copy_attr")
