"""Random numbers: an error, numbers of each sample's own, or the same for all, as `randomness` says."""

import vivace
from vivace._ops import overload
from vivace.func._rules.table import rule


def _check(info):
    if info.randomness == "error":
        raise RuntimeError(
            "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
            "randomness flags on vmap or perform the randomness operation out of vmap"
        )


def _factory(name, size_at):
    op = overload(f"vivace::{name}")

    @rule(name, random=True)
    def call(info, in_dims, *args, **options):
        _check(info)
        if info.randomness == "same":
            return op(*args, **options), None
        args = list(args)
        args[size_at] = [info.batch_size, *args[size_at]]
        return op(*args, **options), 0


for _name, _at in {"rand": 0, "randn": 0, "randint": 1, "randint.low": 2, "normal.float_float": 2}.items():
    _factory(_name, _at)


@rule("randperm", random=True)
def randperm(info, in_dims, n, **options):
    _check(info)
    if info.randomness == "same":
        return vivace.randperm(n, **options), None
    return vivace.stack([vivace.randperm(n, **options) for _ in range(info.batch_size)]), 0


def _first_of_each(op, info, in_dims, args, options):
    """With the same numbers for all: of operators that look at values, an unbatched call."""
    _check(info)
    if any(d is not None for d in in_dims):
        raise RuntimeError(
            "Vmap does not currently support same randomness with a batched tensor input. Please file an issue with "
            "functorch"
        )
    return op(*args, **options), None


def _of_values(name):
    """Of operators whose tensors say how the numbers are spread."""
    op = overload(f"vivace::{name}")

    @rule(name, random=True)
    def call(info, in_dims, *args, **options):
        if info.randomness != "different":
            return _first_of_each(op, info, in_dims, args, options)
        args = list(args)
        tensors = [k for k, a in enumerate(args) if isinstance(a, vivace.Tensor)]
        rank = max(args[k].dim() - (in_dims[k] is not None) for k in tensors)
        for k in tensors:
            if in_dims[k] is None:
                args[k] = args[k].unsqueeze(0).expand(info.batch_size, *args[k].shape)
            missing = rank + 1 - args[k].dim()
            args[k] = args[k].view(args[k].shape[0], *[1] * missing, *args[k].shape[1:]) if missing else args[k]
        return op(*args, **options), 0


for _name in ("bernoulli", "bernoulli.p", "normal.Tensor_Tensor", "normal.Tensor_float", "normal.float_Tensor"):
    _of_values(_name)
for _name in ("_standard_gamma", "_sample_dirichlet", "poisson", "binomial"):
    _of_values(_name)


def _like(name):
    op = overload(f"vivace::{name}")

    @rule(name, random=True)
    def call(info, in_dims, self, *args, **options):
        _check(info)
        batched = in_dims[0] is not None
        if info.randomness == "same":
            return op(self[0] if batched else self, *args, **options), None
        return op(self if batched else self.unsqueeze(0).expand(info.batch_size, *self.shape), *args, **options), 0


for _name in ("rand_like", "randn_like", "randint_like", "randint_like.low"):
    _like(_name)


def _in_place(name):
    op = overload(f"vivace::{name}")

    @rule(name, random=True)
    def call(info, in_dims, self, *args, **options):
        _check(info)
        if in_dims[0] is None and any(d is not None for d in in_dims):
            raise RuntimeError(
                "vmap: aten::bernoulli_(self, *extra_args) is not possible because there exists a Tensor `other` in "
                "extra_args that has more elements than `self`. This happened due to `other` being vmapped over but "
                "`self` not being vmapped over in a vmap. Please try to use out-of-place operators instead of "
                "aten::bernoulli_. If said operator is being called inside the PyTorch framework, please file a bug "
                "report instead."
            )
        if in_dims[0] is None and info.randomness == "different":
            raise RuntimeError(
                "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same "
                "randomness. If this is necessary for your usage, please file an issue with functorch."
            )
        if in_dims[0] is None or info.randomness == "different":
            op(self, *args, **options)
        else:
            self.copy_(op(self[0].clone(), *args, **options))


for _name in ("uniform_", "normal_", "random_.from", "random_.to", "random_", "bernoulli_.Tensor", "bernoulli_.float"):
    _in_place(_name)
for _name in ("exponential_", "geometric_", "log_normal_", "cauchy_"):
    _in_place(_name)


@rule("multinomial", random=True)
def multinomial(info, in_dims, self, *args, **options):
    if info.randomness != "different":
        return _first_of_each(vivace.multinomial, info, in_dims, (self, *args), options)
    if in_dims[0] is None:
        self = self.unsqueeze(0).expand(info.batch_size, *self.shape)
    if self.dim() == 2:
        return vivace.multinomial(self, *args, **options), 0
    drawn = vivace.multinomial(self.flatten(0, 1), *args, **options)
    return drawn.unflatten(0, (info.batch_size, -1)), 0


_masked_by_chance = overload("vivace::masked_by_chance")
_scaled_mask = overload("vivace::scaled_mask")


@rule("masked_by_chance", random=True)
def masked_by_chance(info, in_dims, input, p):
    _check(info)
    if info.randomness == "same":
        if in_dims[0] is None:
            return _masked_by_chance(input, p), (None, None)
        mask = _scaled_mask(input[0], input.shape[1:], p)
        return (input * mask, mask), (0, None)
    if in_dims[0] is None:
        input = input.unsqueeze(0).expand(info.batch_size, *input.shape)
    return _masked_by_chance(input, p), (0, 0)


@rule("scaled_mask", random=True)
def scaled_mask(info, in_dims, input, size, p):
    _check(info)
    input = input if in_dims[0] is None else input[0]
    if info.randomness == "same":
        return _scaled_mask(input, size, p), None
    return _scaled_mask(input, [info.batch_size, *size], p), 0
