"""torch.fx.proxy: names that packages write in annotations."""

from vivace.fx import Proxy as Proxy
