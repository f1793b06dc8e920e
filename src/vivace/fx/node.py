"""torch.fx.node: names that packages write in annotations."""

from typing import Any

from vivace.fx import Node as Node

Target = Argument = Any
