"""autograd.Function: operators with a backward of their own. What runs at each call is native."""

import functools

from vivace import _C

BackwardCFunction = _C._BackwardCFunction
_FunctionBase = _C._FunctionBase

__all__ = ["BackwardCFunction", "Function", "FunctionCtx", "FunctionMeta", "InplaceFunction", "once_differentiable"]


class FunctionCtx:
    """What a ctx can do, for code that calls forward by itself; the ctx that `apply` makes is a node of the graph."""

    def save_for_backward(self, *tensors):
        """Backward finds the tensors in `saved_tensors`."""
        self.to_save = tensors

    def save_for_forward(self, *tensors):
        """jvp finds the tensors in `saved_tensors`."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *args):
        """Forward changed these arguments in place, and returns them."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args):
        """These outputs have no gradient."""
        self.non_differentiable = args

    def set_materialize_grads(self, value):
        """Whether gradients that did not arrive are zeros (the default), not None."""
        self.materialize_grads = value


class FunctionMeta(type):
    """Each subclass of Function gets a type of nodes, named after it, at its first use."""

    def __init__(cls, name, bases, attrs):
        super().__init__(name, bases, attrs)
        cls._native = None


def _default(function):
    function._is_default = True
    return function


class Function(_FunctionBase, metaclass=FunctionMeta):
    """A subclass defines `forward` and `backward` (and `setup_context`, if its forward takes no ctx), static methods;
    `apply` calls it.
    """

    generate_vmap_rule = False

    def __init__(self, *args, **kwargs):
        import warnings

        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should "
            "invoke them on the class itself.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args, **kwargs):
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd "
            "function with static forward method."
        )

    @staticmethod
    @_default
    def forward(*args, **kwargs):
        """`forward(ctx, *args)`, or with `setup_context` `forward(*args)`: computes the outputs."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    @_default
    def setup_context(ctx, inputs, output):
        """Saves on ctx what backward needs, after a forward that takes no ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    @_default
    def backward(ctx, *grad_outputs):
        """The gradients of the arguments of forward, given those of its outputs."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    vjp = backward

    @staticmethod
    @_default
    def jvp(ctx, *grad_inputs):
        """The derivative of forward along a direction."""
        raise NotImplementedError("You must implement the jvp function for custom autograd.Function.")

    @staticmethod
    @_default
    def vmap(info, in_dims, *args):
        """What forward does to a batch."""
        raise NotImplementedError("To use autograd.Function with vmap, you must implement the vmap staticmethod.")

    @classmethod
    def _bind(cls, args, kwargs):
        """The positional arguments that a call with keywords stands for; setup_context sees defaults, too."""
        from inspect import signature

        ctx = (None,) if hasattr(cls.setup_context, "_is_default") else ()
        bound = signature(cls.forward).bind(*ctx, *args, **kwargs)
        if bound.kwargs:
            names = ", ".join(bound.kwargs)
            raise TypeError(f"{cls.__name__}.apply(): forward has to take {names} as positional arguments")
        if not ctx or len(bound.args) < 1 + len(args) + len(kwargs):
            bound.apply_defaults()
        return bound.args[len(ctx) :]


class InplaceFunction(Function):
    """The older form of a Function that may work in place."""


class _RefuseSecond(Function):
    """Identity whose backward raises."""

    @staticmethod
    def forward(ctx, message, *tensors):
        ctx.message = message
        return tuple(t.detach() for t in tensors)

    @staticmethod
    def backward(ctx, *grads):
        raise RuntimeError(ctx.message)


def once_differentiable(fn):
    """Decorates a backward that does not record itself: differentiating its results raises."""

    @functools.wraps(fn)
    def wrapper(ctx, *args):
        with _C.no_grad():
            outputs = fn(ctx, *args)
        if not _C.is_grad_enabled():
            return outputs
        if not any(isinstance(a, _C.Tensor) and a.requires_grad for a in args):
            return outputs
        many = isinstance(outputs, tuple)
        message = "trying to differentiate twice a function that was marked with @once_differentiable"
        fresh = [None if o is None else o.detach().requires_grad_() for o in (outputs if many else (outputs,))]
        guarded = iter(_RefuseSecond.apply(message, *(o for o in fresh if o is not None)))
        result = tuple(None if o is None else next(guarded) for o in fresh)
        return result if many else result[0]

    return wrapper
