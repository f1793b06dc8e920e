"""FlopCounterMode: counts and tables were recorded from torch 2.13."""

import pytest

import vivace as torch
from vivace import nn
from vivace.nn import functional as F
from vivace.utils.flop_counter import FlopCounterMode, flop_registry, register_flop_formula
from vivace.utils.module_tracker import ModuleTracker

aten = torch.ops.aten


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 16)
        self.b = nn.Sequential(nn.ReLU(), nn.Linear(16, 16))
        self.c = nn.Linear(16, 3)

    def forward(self, x):
        return self.c(torch.relu(self.b(self.a(x))))


class Residual(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv1 = nn.Conv2d(c, c, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(c)
        self.conv2 = nn.Conv2d(c, c, 3, padding=1)
        self.down = nn.Conv2d(c, 2 * c, 1, stride=2, groups=2)

    def forward(self, x):
        return self.down(F.relu(self.conv2(F.relu(self.bn(self.conv1(x)))) + x))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(16, 16) for _ in range(4))

    def forward(self, x):
        q, k, v = (f(x).view(2, 5, 4, 4).transpose(1, 2) for f in (self.q, self.k, self.v))
        weights = torch.softmax(q @ k.transpose(-1, -2) / 2, -1)
        return self.o((weights @ v).transpose(1, 2).reshape(2, 5, 16))


def counted(function, **options):
    """What is counted while a function runs, by the operators' names."""
    with FlopCounterMode(display=False, **options) as counter:
        function()
    return {m: {str(op): n for op, n in found.items()} for m, found in counter.get_flop_counts().items()}


MLP_TABLE = """\
Module          FLOP    % Total
------------  ------  ---------
MLP             9344    100.00%
- aten.addmm    3456     36.99%
- aten.mm       5888     63.01%
MLP.a           2048     21.92%
- aten.addmm    1024     10.96%
- aten.mm       1024     10.96%
MLP.b           6144     65.75%
- aten.addmm    2048     21.92%
- aten.mm       4096     43.84%
MLP.c           1152     12.33%
- aten.addmm     384      4.11%
- aten.mm        768      8.22%
"""

NET_TABLE = """\
Module                            FLOP    % Total
---------------------------  ---------  ---------
Sequential                   1505.152K    100.00%
- aten.convolution            600.064K     39.87%
- aten.addmm                    0.640K      0.04%
- aten.mm                       1.280K      0.09%
- aten.convolution_backward   903.168K     60.01%
Sequential.0                  602.112K     40.00%
- aten.convolution            301.056K     20.00%
- aten.convolution_backward   301.056K     20.00%
Sequential.1                  901.120K     59.87%
- aten.convolution            299.008K     19.87%
- aten.convolution_backward   602.112K     40.00%
Sequential.1.conv1            442.368K     29.39%
- aten.convolution            147.456K      9.80%
- aten.convolution_backward   294.912K     19.59%
Sequential.1.conv2            442.368K     29.39%
- aten.convolution            147.456K      9.80%
- aten.convolution_backward   294.912K     19.59%
Sequential.1.down              16.384K      1.09%
- aten.convolution              4.096K      0.27%
- aten.convolution_backward    12.288K      0.82%
Sequential.4                    1.920K      0.13%
- aten.addmm                    0.640K      0.04%
- aten.mm                       1.280K      0.09%
"""

ATTENTION_TABLE = """\
Module           FLOP    % Total
------------  -------  ---------
Attention     55.680K    100.00%
- aten.addmm  20.480K     36.78%
- aten.bmm     9.600K     17.24%
- aten.mm     25.600K     45.98%
Attention.k   15.360K     27.59%
- aten.addmm   5.120K      9.20%
- aten.mm     10.240K     18.39%
Attention.o   15.360K     27.59%
- aten.addmm   5.120K      9.20%
- aten.mm     10.240K     18.39%
Attention.q   10.240K     18.39%
- aten.addmm   5.120K      9.20%
- aten.mm      5.120K      9.20%
Attention.v   20.480K     36.78%
- aten.addmm   5.120K      9.20%
- aten.mm     15.360K     27.59%
"""


def net():
    return nn.Sequential(
        nn.Conv2d(3, 8, 7, stride=2, padding=3), Residual(8), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10)
    )


@pytest.mark.parametrize(
    ("make", "shape", "depth", "table"),
    [
        (MLP, (4, 8), 2, MLP_TABLE),
        (net, (2, 3, 16, 16), 3, NET_TABLE),
        (Attention, (2, 5, 16), 2, ATTENTION_TABLE),
    ],
    ids=["mlp", "convolutions", "attention"],
)
def test_tables_of_forward_and_backward(make, shape, depth, table, capsys):
    model = make()
    with FlopCounterMode(depth=depth):
        model(torch.randn(shape)).sum().backward()
    assert capsys.readouterr().out == table


def test_depth_and_totals():
    model = MLP()
    with FlopCounterMode(display=False) as counter:
        model(torch.randn(4, 8)).sum().backward()
    assert counter.get_total_flops() == 9344
    assert counter.get_table(1) == "\n".join(MLP_TABLE.splitlines()[:5])
    assert counter.get_flop_counts()["MLP.b.1"] == {aten.addmm: 2048, aten.mm: 4096}
    with counter, torch.no_grad():
        model(torch.randn(4, 8))
    assert counter.get_total_flops() == 3456


def test_convolutions():
    transposed, one, three = nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1), nn.Conv1d(4, 6, 3), nn.Conv3d(2, 4, 3)
    counts = counted(lambda: transposed(torch.randn(2, 4, 5, 5, requires_grad=True)).sum().backward())
    assert counts["Global"] == {"aten.convolution": 21600, "aten.convolution_backward": 43200}
    assert counted(lambda: one(torch.randn(2, 4, 9)).sum().backward())["Conv1d"] == {
        "aten.convolution": 2016, "aten.convolution_backward": 2016
    }  # fmt: skip
    assert counted(lambda: three(torch.randn(1, 2, 5, 5, 5)))["Global"] == {"aten.convolution": 2 * 27 * 8 * 27}


def test_products():
    a, b = torch.randn(3, 4, requires_grad=True), torch.randn(4, 5, requires_grad=True)

    def run():
        (a @ b).sum().backward()
        torch.addmm(torch.randn(3, 5), a, b).sum().backward()
        torch.baddbmm(torch.randn(2, 3, 5), a.expand(2, 3, 4), b.expand(2, 4, 5)).sum().backward()
        torch.bmm(a.expand(2, 3, 4), b.expand(2, 4, 5))
        torch.einsum("ij,jk->ik", a, b)
        torch.mv(a, torch.randn(4))
        torch.matmul(torch.randn(2, 3, 4), b)
        a + a

    assert counted(run) == {"Global": {"aten.mm": 840, "aten.addmm": 120, "aten.baddbmm": 240, "aten.bmm": 840}}


def test_linear_by_the_operators_that_pytorch_calls():
    layer, plain = nn.Linear(8, 3), nn.Linear(8, 3, bias=False)
    assert counted(lambda: layer(torch.randn(2, 5, 8)))["Linear"] == {"aten.addmm": 480}
    assert counted(lambda: layer(torch.randn(5, 2, 8).transpose(0, 1)))["Linear"] == {"aten.mm": 480}
    assert counted(lambda: plain(torch.randn(2, 8)))["Linear"] == {"aten.mm": 96}


def test_what_pytorch_does_not_count_on_a_cpu():
    q, k, v = (torch.randn(2, 4, 6, 8, requires_grad=True) for _ in range(3))
    forward = 2 * 2 * (2 * 4 * 6 * 6 * 8)
    counts = counted(lambda: F.scaled_dot_product_attention(q, k, v).sum().backward())["Global"]
    assert counts["aten._scaled_dot_product_flash_attention"] == forward
    assert sum(counts.values()) == forward * 7 // 2  # backward computes the scores again: five products
    steps = counted(lambda: nn.LSTM(4, 5)(torch.randn(3, 2, 4)))["LSTM"]
    assert steps == {"aten.addmm": 2 * 6 * 4 * 20, "aten.mm": 2 * 6 * 5 * 20}


def test_formulas_of_ones_own():
    a = torch.randn(3)
    shapes = []

    def five(x, out_shape=None, **kwargs):
        shapes.append((x, out_shape))
        return 5

    assert counted(lambda: torch.sin(a), custom_mapping={aten.sin: five}) == {"Global": {"aten.sin": 5}}
    assert shapes == [((3,), (3,))]

    @torch.library.custom_op("counted::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @register_flop_formula(torch.ops.counted.twice, get_raw=True)
    def of_twice(x, out_val=None):
        return x.numel() + out_val.numel()

    assert counted(lambda: twice(a)) == {"Global": {"counted.twice": 6}}
    with pytest.raises(RuntimeError, match="duplicate registrations"):
        register_flop_formula([torch.ops.counted.twice])(five)
    del flop_registry[torch.ops.counted.twice]


def test_nothing_and_nested():
    with FlopCounterMode(display=False) as nothing:
        torch.ones(3) + 1
    assert nothing.get_total_flops() == 0 and nothing.get_table().splitlines()[-1] == "Global         0         0%"
    a = torch.randn(3, 4)
    with FlopCounterMode(display=False) as outer:
        a @ a.t()
        with FlopCounterMode(display=False) as inner:
            a @ a.t()
    assert (outer.get_total_flops(), inner.get_total_flops()) == (144, 72)
    with pytest.warns(UserWarning, match="mods argument is not needed"):
        FlopCounterMode(nn.Linear(1, 1), display=False)


def test_left_by_an_exception():
    model = MLP()
    with pytest.raises(RuntimeError), FlopCounterMode(display=False):
        model(torch.randn(4, 7))
    assert torch.utils._python_dispatch.is_in_torch_dispatch_mode() is False
    assert counted(lambda: model(torch.randn(4, 8)))["Global"] == {"aten.addmm": 3456}


def test_module_tracker():
    seen = []

    class Inner(nn.Module):
        def forward(self, x):
            seen.append(set(tracker.parents))
            return x.exp()

    model = nn.Sequential(Inner(), nn.Sequential(Inner()))
    tracker = ModuleTracker()
    with tracker:
        y = model(torch.ones(2, requires_grad=True))
        y.register_hook(lambda grad: seen.append((tracker.is_bw, "Sequential" in tracker.parents)))
        y.sum().backward()
    assert seen[:2] == [
        {"Global", "Sequential", "Sequential.0"},
        {"Global", "Sequential", "Sequential.1", "Sequential.1.0"},
    ]
    assert seen[2] == (True, True) and tracker.parents == {"Global"} and not tracker.is_bw
