"""There is no CUDA; its switches can be set, those of kernels for attention too, of which there is one here."""

from contextlib import contextmanager
from types import SimpleNamespace

matmul = SimpleNamespace(
    allow_tf32=False, allow_fp16_reduced_precision_reduction=True, allow_bf16_reduced_precision_reduction=True
)
_enabled = {"flash": True, "mem_efficient": True, "math": True, "cudnn": True}


def is_built():
    return False


def is_flash_attention_available():
    return False


def _switch(kernel):
    def enabled():
        return _enabled[kernel]

    def enable(enabled):
        _enabled[kernel] = enabled

    return enabled, enable


flash_sdp_enabled, enable_flash_sdp = _switch("flash")
mem_efficient_sdp_enabled, enable_mem_efficient_sdp = _switch("mem_efficient")
math_sdp_enabled, enable_math_sdp = _switch("math")
cudnn_sdp_enabled, enable_cudnn_sdp = _switch("cudnn")


@contextmanager
def sdp_kernel(enable_flash=True, enable_math=True, enable_mem_efficient=True, enable_cudnn=True):
    """A block with these switches."""
    before = _enabled.copy()
    _enabled.update(flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn)
    try:
        yield {}
    finally:
        _enabled.update(before)
