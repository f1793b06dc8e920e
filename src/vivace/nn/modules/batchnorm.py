"""Batch and instance normalisation: what both share is the running statistics."""

import vivace

from .. import functional as F
from .. import init
from ..parameter import Parameter, UninitializedBuffer, UninitializedParameter
from .lazy import LazyModuleMixin
from .module import Module


class _NormBase(Module):
    """Affine parameters and running statistics of num_features channels."""

    _version = 2

    def __init__(
        self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *,
        bias=True,
    ):  # fmt: skip
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        like = {"device": device, "dtype": dtype}
        for name, present in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(name, Parameter(vivace.empty(num_features, **like)) if present else None)
        tracked = track_running_stats
        self.register_buffer("running_mean", vivace.zeros(num_features, **like) if tracked else None)
        self.register_buffer("running_var", vivace.ones(num_features, **like) if tracked else None)
        count = vivace.tensor(0, dtype=vivace.long, device=device) if tracked else None
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def reset_running_stats(self):
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self):
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input):
        raise NotImplementedError

    def extra_repr(self):
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *lists):
        version = local_metadata.get("version")
        key = prefix + "num_batches_tracked"
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            # checkpoints of the first version did not count batches
            count = self.num_batches_tracked
            known = count is not None and not count.is_meta
            state_dict[key] = count if known else vivace.tensor(0, dtype=vivace.long)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *lists)


class _BatchNorm(_NormBase):
    def forward(self, input):
        self._check_input_dim(input)
        factor = 0.0 if self.momentum is None else self.momentum
        training = self.training
        if training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                factor = 1.0 / float(self.num_batches_tracked)  # the average over all batches
        mean, var = self.running_mean, self.running_var
        use_batch = training or (mean is None and var is None)
        if training and not self.track_running_stats:
            mean = var = None
        return F.batch_norm(input, mean, var, self.weight, self.bias, use_batch, factor, self.eps)


def _require_dim(input, *dims):
    if input.dim() not in dims:
        expected = " or ".join(f"{d}D" for d in dims)
        raise ValueError(f"expected {expected} input (got {input.dim()}D input)")


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L)."""

    def _check_input_dim(self, input):
        _require_dim(input, 2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (N, C, H, W)."""

    def _check_input_dim(self, input):
        _require_dim(input, 4)


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of (N, C, D, H, W)."""

    def _check_input_dim(self, input):
        _require_dim(input, 5)


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over all processes; with one process it is plain batch normalisation."""

    def __init__(
        self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, process_group=None,
        device=None, dtype=None, *, bias=True,
    ):  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input):
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    @classmethod
    def convert_sync_batchnorm(cls, module, process_group=None):
        """The module with each BatchNorm in it replaced by a SyncBatchNorm of the same values."""
        converted = module
        if isinstance(module, _BatchNorm) and not isinstance(module, cls):
            converted = cls(
                module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats,
                process_group, bias=module.bias is not None,
            )  # fmt: skip
            for name, value in (*module._parameters.items(), *module._buffers.items()):
                setattr(converted, name, value)
            converted.training = module.training
        for name, child in module.named_children():
            converted.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return converted


class _LazyNormBase(LazyModuleMixin):
    """What normalisations share that take num_features from their first input."""

    def __init__(
        self, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *, bias=True
    ):
        super().__init__(0, eps, momentum, False, False)
        self.affine = affine
        self.track_running_stats = track_running_stats
        like = {"device": device, "dtype": dtype}
        if affine:
            self.weight = UninitializedParameter(**like)
            if bias:
                self.bias = UninitializedParameter(**like)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(**like)
            self.running_var = UninitializedBuffer(**like)
            self.num_batches_tracked = vivace.tensor(0, dtype=vivace.long, device=device)

    def reset_parameters(self):
        if self.num_features != 0 and not self.has_uninitialized_params():
            super().reset_parameters()

    def initialize_parameters(self, input):
        self._check_input_dim(input)
        self.num_features = input.shape[self._channel_dim(input)]
        if not self.has_uninitialized_params():
            return
        for member in (self.weight, self.bias, self.running_mean, self.running_var):
            if member is not None:
                member.materialize((self.num_features,))
        self.reset_parameters()

    def _channel_dim(self, input):
        return 1


class LazyBatchNorm1d(_LazyNormBase, BatchNorm1d):
    """A BatchNorm1d that takes num_features from its first input."""

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNormBase, BatchNorm2d):
    """A BatchNorm2d that takes num_features from its first input."""

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNormBase, BatchNorm3d):
    """A BatchNorm3d that takes num_features from its first input."""

    cls_to_become = BatchNorm3d
