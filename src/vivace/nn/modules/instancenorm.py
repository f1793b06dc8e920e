"""Instance normalisation."""

import warnings

from .. import functional as F
from .batchnorm import _LazyNormBase, _NormBase, _require_dim


class _InstanceNorm(_NormBase):
    _no_batch_dim = None

    def __init__(
        self, num_features, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False, device=None, dtype=None, *,
        bias=True,
    ):  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        if local_metadata.get("version") is None and not self.track_running_stats:
            # the first version tracked statistics by default
            stale = [k for k in (prefix + "running_mean", prefix + "running_var") if k in state_dict]
            if stale:
                names = " and ".join(f'"{k}"' for k in stale)
                error_msgs.append(
                    f"Unexpected running stats buffer(s) {names} for {type(self).__name__} with "
                    "track_running_stats=False. If state_dict is a checkpoint saved before 0.4.0, this may be expected "
                    "because InstanceNorm does not track running stats by default since 0.4.0. Please remove "
                    "these keys "
                    "from state_dict."
                )
                for key in stale:
                    state_dict.pop(key)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )

    def forward(self, input):
        self._check_input_dim(input)
        channels = input.size(input.dim() - self._no_batch_dim)
        if channels != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={input.dim() - self._no_batch_dim} to match num_features "
                    f"({self.num_features}), but got: {channels}."
                )
            warnings.warn(
                f"input's size at dim={input.dim() - self._no_batch_dim} does not match num_features. You can silence "
                "this warning by not passing in num_features, which is not used because affine=False",
                stacklevel=3,
            )
        if input.dim() == self._no_batch_dim:
            return self._normalise(input.unsqueeze(0)).squeeze(0)
        return self._normalise(input)

    def _normalise(self, input):
        use_input_stats = self.training or not self.track_running_stats
        momentum = 0.0 if self.momentum is None else self.momentum
        return F.instance_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias, use_input_stats, momentum, self.eps
        )


class InstanceNorm1d(_InstanceNorm):
    """Instance normalisation of (C, L) or (N, C, L)."""

    _no_batch_dim = 2

    def _check_input_dim(self, input):
        _require_dim(input, 2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Instance normalisation of (C, H, W) or (N, C, H, W)."""

    _no_batch_dim = 3

    def _check_input_dim(self, input):
        _require_dim(input, 3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Instance normalisation of (C, D, H, W) or (N, C, D, H, W)."""

    _no_batch_dim = 4

    def _check_input_dim(self, input):
        _require_dim(input, 4, 5)


class _LazyInstanceNorm(_LazyNormBase):
    def _channel_dim(self, input):
        return -self._no_batch_dim


class LazyInstanceNorm1d(_LazyInstanceNorm, InstanceNorm1d):
    """An InstanceNorm1d that takes num_features from its first input."""

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyInstanceNorm, InstanceNorm2d):
    """An InstanceNorm2d that takes num_features from its first input."""

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyInstanceNorm, InstanceNorm3d):
    """An InstanceNorm3d that takes num_features from its first input."""

    cls_to_become = InstanceNorm3d
