"""An operator's formula as an autograd.Function, whose `apply` is the operator's kernel for Autograd. Lists of tensors
are laid out flat for it, since it records tensors that are arguments themselves.
"""

from vivace._C import Tensor
from vivace.autograd.function import Function


def _is_list(type_):
    return type_.startswith("Tensor") and "[" in type_


def make_apply(op, backward, setup_context):
    """What records a call of the OpOverload `op`, given all its arguments by position. A missing `backward` raises when
    a gradient is asked for.
    """
    schema = op._schema
    keywords = [a.name for a in schema.arguments if a.kwarg_only]
    npositional = len(schema.arguments) - len(keywords)
    below = op.below_autograd

    def call(*args):
        return below(*args[:npositional], **dict(zip(keywords, args[npositional:], strict=True)))

    def setup(ctx, inputs, output):
        if keywords:
            given = dict(zip(keywords, inputs[npositional:], strict=True))
            setup_context(ctx=ctx, inputs=inputs[:npositional], keyword_only_inputs=given, output=output)
        else:
            setup_context(ctx=ctx, inputs=inputs, output=output)

    def differentiate(ctx, *grads):
        result = backward(ctx, *grads)
        if not keywords:
            return result
        return (*(result if isinstance(result, tuple) else (result,)), *(None for _ in keywords))

    def refuse(ctx, *grads):
        raise RuntimeError(
            f"Trying to backward through {op} but no autograd formula was registered. Please use register_autograd to "
            "add one."
        )

    body = {
        "forward": call if keywords else below,
        "setup_context": setup if setup_context is not None else _nothing,
        "backward": refuse if backward is None else differentiate if keywords else backward,
    }
    name = f"GeneratedBackwardFor_{op.namespace}_{op._opname}_{op._overloadname}"
    if any(_is_list(a.type) for a in (*schema.arguments, *schema.returns)):
        return _apply_flat(name, body)
    return _function(name, body).apply


def _nothing(ctx, inputs, output):
    """A formula that saves nothing."""


def _function(name, body):
    return type(name, (Function,), {key: staticmethod(value) for key, value in body.items()})


def _flatten(values):
    """All values, items of lists among them, and how to build them again: None, or the length of a list."""
    flat, lengths = [], []
    for value in values:
        if isinstance(value, list | tuple):
            flat += value
            lengths.append(len(value))
        else:
            flat.append(value)
            lengths.append(None)
    return flat, lengths


def _rebuild(flat, lengths):
    values, at = [], 0
    for length in lengths:
        if length is None:
            values.append(flat[at])
            at += 1
        else:
            values.append(list(flat[at : at + length]))
            at += length
    return tuple(values)


def _apply_flat(name, body):
    """`apply` by way of a Function over flat arguments and results, whose first argument tells their layout."""

    class Layout:
        inputs = outputs = None
        single = False

    def forward(layout, *flat):
        result = body["forward"](*_rebuild(flat, layout.inputs))
        layout.single = not isinstance(result, tuple)
        outputs, layout.outputs = _flatten((result,) if layout.single else result)
        return tuple(outputs)

    def setup_context(ctx, inputs, output):
        layout, *flat = inputs
        ctx._layout = layout
        results = _rebuild(output, layout.outputs)
        body["setup_context"](_Context(ctx), _rebuild(flat, layout.inputs), results[0] if layout.single else results)

    def backward(ctx, *grads):
        layout = ctx._layout
        result = body["backward"](_Context(ctx), *_rebuild(grads, layout.outputs))
        gradients = list(result) if isinstance(result, tuple) else [result]
        flat = [None]
        for gradient, length in zip(gradients, layout.inputs, strict=True):
            if length is None:
                flat.append(gradient)
            elif gradient is None:
                flat += [None] * length
            elif isinstance(gradient, list | tuple) and len(gradient) == length:
                flat += gradient
            else:
                raise RuntimeError(
                    f"{name}: a list of {length} tensors has as many gradients, in a list, or None, not {gradient!r}"
                )
        return tuple(flat)

    function = _function(name, {"forward": forward, "setup_context": setup_context, "backward": backward})

    def apply(*args):
        layout = Layout()
        flat, layout.inputs = _flatten(args)
        outputs = _rebuild(function.apply(layout, *flat), layout.outputs)
        return outputs[0] if layout.single else outputs

    return apply


class _Context:
    """A ctx as a formula sees it: `needs_input_grad` by the operator's arguments, not by the flat ones."""

    def __init__(self, ctx):
        object.__setattr__(self, "_ctx", ctx)

    def __getattr__(self, name):
        return getattr(self._ctx, name)

    def __setattr__(self, name, value):
        setattr(self._ctx, name, value)

    @property
    def needs_input_grad(self):
        return _rebuild(self._ctx.needs_input_grad[1:], self._ctx._layout.inputs)


def any_requires_grad(values):
    """Whether a tensor among arguments, or in a list among them, requires grad."""
    return any(isinstance(v, Tensor) and v.requires_grad for v in _flatten(values)[0])
