"""10^6 small operations of many kinds and backwards: growth of resident memory between call 10^5 and the end, gc on."""

from __future__ import annotations

from benchmarks.common import child, frameworks, print_table

CHILD = """
import importlib, json, sys
name = sys.argv[1]
torch = importlib.import_module(name)
F = importlib.import_module(name + ".nn.functional")
torch.set_num_threads(1)
a, b = torch.ones(4), torch.ones(4)
M = torch.ones(4, 4)
w = torch.ones(4, 4, requires_grad=True)
bias = torch.zeros(4, requires_grad=True)
mask = torch.tensor([True, False, True, False])
index = torch.tensor([0, 2])

def resident():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmRSS")).split()[1]) / 1024

def one_round():
    # 50 calls, counting each operation and each backward as one
    c = a + b; c = c * 2.0; c.add_(1.0); c = c.exp().log(); d = c[1:3]; d = c[0]; e = M + a; e = e.t()
    e = e.reshape(2, 8); s = e.sum(); s = e.mean(0); f = torch.cat([a, b]); f = torch.stack([a, b])
    g = torch.where(mask, a, b); h = a[mask]; h = a[index]; k = a < b; k = a.to(torch.float64); n = a.clone()
    z = torch.zeros(4); z = torch.empty(4); z = torch.arange(4); t = torch.tensor([1.0, 2.0])
    v = a.view(2, 2); v = v.unsqueeze(0); v = v.expand(3, 2, 2); i = s.sum().item()
    y = F.linear(M, w, bias); y = torch.tanh(y); y = F.relu(y); p = torch.softmax(y, -1); loss = F.mse_loss(p, M)
    loss.backward()
    q = (w * w).sum(); q.backward()
    w.grad = None; bias.grad = None
    with torch.no_grad():
        w.mul_(1.0)
    u = w.detach(); u = M @ M

start = None
for i in range(20000):
    if i == 2000:
        start = resident()
    one_round()
print(json.dumps({"growth": resident() - start}))
"""


def main() -> None:
    """Prints the table."""
    rows = {"growth": {name: child(CHILD, name)["growth"] for name in frameworks()}}
    print_table("Growth of resident memory between call 10^5 and call 10^6", "MB", rows)


if __name__ == "__main__":
    main()
