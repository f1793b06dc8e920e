"""Steps of optimizers over all parameters in one call. Gradients are read from the parameters."""

from catalogue.kinds import op

fused_sgd_ = op(
    "_fused_sgd_(Tensor(a!)[] params, Tensor[] momentum_buffers, *, float lr, float momentum, float dampening, "
    "float weight_decay, bool nesterov, bool maximize, bool first) -> ()",
    kernel="fused_sgd_",
    on_meta=True,
    doc="One step of SGD; `first`: the momentum buffers hold nothing yet.",
)
fused_adam_ = op(
    "_fused_adam_(Tensor(a!)[] params, Tensor[] exp_avgs, Tensor[] exp_avg_sqs, Tensor[] max_exp_avg_sqs, "
    "Tensor[] state_steps, *, float lr, float beta1, float beta2, float weight_decay, float eps, bool amsgrad, "
    "bool maximize, bool decoupled) -> ()",
    kernel="fused_adam_",
    on_meta=True,
    doc="One step of Adam, or of AdamW if `decoupled`.",
)
fused_clip_grad_norm_ = op(
    "_fused_clip_grad_norm_(Tensor[] params, float max_norm, float norm_type) -> Tensor",
    kernel="fused_clip_grad_norm_",
    on_meta=True,
    doc="The norm of all gradients together; scales them so that it is at most max_norm.",
)
