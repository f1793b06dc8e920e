"""Layers with small inputs: the cases whose PyTorch results `tools/record/nn.py` writes and test_layers.py compares."""

from __future__ import annotations

import math
from typing import Any

FLAT = (3, 4)
LINE = (2, 4, 8)
IMAGE = (2, 4, 6, 6)
VOLUME = (1, 4, 4, 4, 4)

# expression over torch.nn -> shapes of the inputs
LAYERS: dict[str, list[tuple[int, ...]]] = {
    "Linear(4, 5)": [FLAT],
    "Linear(4, 5, bias=False)": [FLAT],
    "Bilinear(4, 3, 2)": [FLAT, (3, 3)],
    "Identity()": [FLAT],
    "Flatten()": [LINE],
    "Unflatten(1, (2, 2))": [FLAT],
    "Conv1d(4, 6, 3, padding=1)": [LINE],
    "Conv2d(4, 6, 3, 2, padding=(1, 2), groups=2)": [IMAGE],
    "Conv2d(4, 2, 3, padding='same', padding_mode='reflect', bias=False)": [IMAGE],
    "Conv2d(4, 2, 3, padding=2, dilation=2, padding_mode='circular')": [IMAGE],
    "Conv3d(4, 2, 2)": [VOLUME],
    "ConvTranspose1d(4, 2, 3, 2, output_padding=1)": [LINE],
    "ConvTranspose2d(4, 2, 3, 2, 1)": [IMAGE],
    "MaxPool1d(2)": [LINE],
    "MaxPool2d(3, 2, 1)": [IMAGE],
    "AvgPool1d(2)": [LINE],
    "AvgPool2d(2)": [IMAGE],
    "AdaptiveAvgPool1d(3)": [LINE],
    "AdaptiveAvgPool2d((None, 4))": [IMAGE],
    "AdaptiveMaxPool2d(4)": [IMAGE],
    "LayerNorm(4)": [FLAT],
    "LayerNorm((6, 6), bias=False)": [IMAGE],
    "RMSNorm(4)": [FLAT],
    "GroupNorm(2, 4)": [IMAGE],
    "BatchNorm1d(4)": [FLAT],
    "BatchNorm2d(4, momentum=None)": [IMAGE],
    "BatchNorm2d(4, track_running_stats=False)": [IMAGE],
    "InstanceNorm2d(4, affine=True)": [IMAGE],
    "LocalResponseNorm(3)": [IMAGE],
    "ReflectionPad2d(1)": [IMAGE],
    "ReplicationPad2d((1, 2, 0, 1))": [IMAGE],
    "ZeroPad2d(1)": [IMAGE],
    "ConstantPad1d(2, 3.5)": [LINE],
    "CircularPad2d(1)": [IMAGE],
    "PixelShuffle(2)": [IMAGE],
    "PixelUnshuffle(2)": [IMAGE],
    "ChannelShuffle(2)": [IMAGE],
    "Upsample(scale_factor=2)": [IMAGE],
    "Upsample(size=5, mode='bilinear')": [IMAGE],
    "CosineSimilarity()": [FLAT, FLAT],
    "PairwiseDistance()": [FLAT, FLAT],
    "RNN(8, 3)": [LINE],
    "LSTM(8, 3, 2, bidirectional=True)": [LINE],
    "GRU(8, 3, batch_first=True)": [LINE],
    "LSTMCell(4, 3)": [FLAT],
    "GRUCell(4, 3)": [FLAT],
    "MultiheadAttention(8, 2)": [LINE, LINE, LINE],
    "TransformerEncoderLayer(8, 2, 16, 0.0, norm_first=True)": [LINE],
    "TransformerDecoderLayer(8, 2, 16, 0.0)": [LINE, LINE],
    "Dropout(0.4)": [LINE],
    "Dropout2d(0.4)": [IMAGE],
    "Sequential(Linear(4, 5), ReLU(), Linear(5, 2))": [FLAT],
    "L1Loss()": [FLAT, FLAT],
    "MSELoss(reduction='sum')": [FLAT, FLAT],
    "SmoothL1Loss(beta=0.5)": [FLAT, FLAT],
    "HuberLoss(delta=0.5)": [FLAT, FLAT],
    "BCEWithLogitsLoss()": [FLAT, FLAT],
    "PoissonNLLLoss()": [FLAT, FLAT],
    "TripletMarginLoss(swap=True)": [FLAT, FLAT, FLAT],
}
LAYERS |= {
    f"{name}()": [FLAT]
    for name in (
        "ReLU", "ReLU6", "ELU", "SELU", "CELU", "SiLU", "Mish", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU",
        "Sigmoid", "Tanh", "GELU", "Hardshrink", "Softshrink", "LogSigmoid", "Softplus", "PReLU", "Softsign",
        "Tanhshrink", "GLU",
    )
}  # fmt: skip
LAYERS |= {f"{name}(dim=1)": [FLAT] for name in ("Softmax", "LogSoftmax", "Softmin")}


def inputs(module: Any, shapes: list[tuple[int, ...]]) -> list[Any]:
    """Numbers between -2 and 2 that need no random stream."""
    result = []
    for number, shape in enumerate(shapes):
        values = [2 * math.sin(1.7 * i + number) for i in range(math.prod(shape))]
        result.append(module.tensor(values).reshape(shape).requires_grad_())
    return result


def run(module: Any, expression: str) -> dict[str, Any]:
    """What a layer prints, holds after seeding, gives, and passes back."""
    module.manual_seed(3)
    names = {
        name: getattr(module.nn, name)
        for name in expression.replace("(", " ").replace(",", " ").split()
        if name[0].isupper() and hasattr(module.nn, name)
    }
    layer = eval(expression, names)
    initial = {name: value.double().sum().item() for name, value in layer.state_dict().items()}
    args = inputs(module, LAYERS[expression])
    module.manual_seed(4)
    output = layer(*args)
    while isinstance(output, tuple):
        output = output[0]
    weights = module.arange(1, output.numel() + 1).reshape(output.shape) / output.numel()
    if output.requires_grad:
        (output * weights).sum().backward()
    gradients = [t.grad for t in [*args, *layer.parameters()]]
    layer.eval()
    evaluated = layer(*args)
    while isinstance(evaluated, tuple):
        evaluated = evaluated[0]
    return {
        "repr": repr(layer),
        "initial": initial,
        "shape": list(output.shape),
        "output": (output * weights).sum().item(),
        "eval": (evaluated * weights).sum().item(),
        "gradients": [None if g is None else g.double().sum().item() for g in gradients],
        "state": {name: value.double().sum().item() for name, value in layer.state_dict().items()},
    }
