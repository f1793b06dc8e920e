"""The version, and what PyTorch's torch.version tells of its build."""

__version__ = "2.13.0+vivace"  # the part before the plus: whose PyTorch's API this is
__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "xpu"]

debug = False
cuda = None
hip = None
xpu = None
git_version = "unknown"
