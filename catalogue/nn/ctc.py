"""Connectionist temporal classification."""

from catalogue.kinds import composite, op
from codegen.expr import cpp, ops

_LENGTHS = "int[] input_lengths, int[] target_lengths"
ctc_losses = op(
    f"_ctc_loss(Tensor log_probs, Tensor targets, {_LENGTHS}, int blank=0, bool zero_infinity=False)"
    " -> (Tensor, Tensor)",
    kernel="ctc_losses",
    variants="function",
    nondiff=(1,),
    grad=lambda g0, log_probs, targets, input_lengths, target_lengths, y0, y1, blank, zero_infinity: (
        ops._ctc_loss_backward(g0, log_probs, targets, input_lengths, target_lengths, y0, y1, blank, zero_infinity),
        None,
    ),
    doc="Minus the log probability of each sequence of labels under all its alignments, and the forward variables.",
)
ctc_losses_backward = op(
    f"_ctc_loss_backward(Tensor grads, Tensor log_probs, Tensor targets, {_LENGTHS}, Tensor losses, "
    "Tensor log_alpha, int blank, bool zero_infinity) -> Tensor",
    kernel="ctc_losses_backward",
    namespace="private",
    grad=lambda g: tuple(cpp.no_derivative(g, "_ctc_loss_backward") for _ in range(5)),
    doc="The gradient of _ctc_loss() by log probabilities that add up to one.",
)

_OPTIONS = "int blank=0, int reduction=0, bool zero_infinity=False"
_sample = lambda s: s.values(1, 2, 2, 1, 3, 1, dtype="int64", shape=(2, 3))
ctc_loss = composite(
    f"ctc_loss.IntList(Tensor log_probs, Tensor targets, {_LENGTHS}, {_OPTIONS}) -> Tensor",
    kernel="ctc_loss_IntList",
    autocast="float32",
    variants="function",
    samples=lambda s: [
        s(s.t(6, 2, 4, low=-3, high=-0.5), _sample(s), (6, 5), (3, 2), 0, reduction) for reduction in (0, 1, 2)
    ],
    doc="Minus the log probability of label sequences under all alignments: each, their mean over lengths, or sum.",
)
ctc_loss_of_tensors = composite(
    "ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, "
    f"{_OPTIONS}) -> Tensor",
    kernel="ctc_loss_Tensor",
    autocast="float32",
    variants="function",
    samples=lambda s: [
        s(
            s.t(6, 2, 4, low=-3, high=-0.5),
            s.values(1, 2, 2, 1, 3, dtype="int64"),
            s.values(6, 4, dtype="int64"),
            s.values(3, 2, dtype="int64"),
        )
    ],
    doc=ctc_loss.doc,
)
