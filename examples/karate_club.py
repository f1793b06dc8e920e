"""A graph convolutional network (Kipf and Welling, 2017) finds out who went where when a karate club split in two.

python -m vivace examples/karate_club.py

The graph of who met whom outside the club is Zachary's (1977). Training knows two of the 34 members: the instructor (0)
and the officer (33) whom the others followed.
"""

import os

import torch
import torch.nn as nn
import torch.nn.functional as F

MET = (
    "0-1 0-2 0-3 0-4 0-5 0-6 0-7 0-8 0-10 0-11 0-12 0-13 0-17 0-19 0-21 0-31 1-2 1-3 1-7 1-13 1-17 1-19 1-21 1-30 2-3 "
    "2-7 2-8 2-9 2-13 2-27 2-28 2-32 3-7 3-12 3-13 4-6 4-10 5-6 5-10 5-16 6-16 8-30 8-32 8-33 9-33 13-33 14-32 14-33 "
    "15-32 15-33 18-32 18-33 19-33 20-32 20-33 22-32 22-33 23-25 23-27 23-29 23-32 23-33 24-25 24-27 24-31 25-31 26-29 "
    "26-33 27-33 28-31 28-33 29-32 29-33 30-32 30-33 31-32 31-33 32-33"
)
WITH_OFFICER = (9, 14, 15, 18, 20, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33)
MEMBERS = 34


class GraphConv(nn.Module):
    """Each node sums what a linear layer makes of its neighbours and of itself, with weights 1 / sqrt(degrees)."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs, bias=False)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x, edges, weights):
        source, target = edges
        messages = self.linear(x)[source] * weights[:, None]
        return torch.zeros(len(x), messages.shape[1]).index_add(0, target, messages) + self.bias


class GCN(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.first = GraphConv(MEMBERS, hidden)
        self.second = GraphConv(hidden, 2)

    def forward(self, x, edges, weights):
        hidden = F.dropout(self.first(x, edges, weights).relu(), 0.3, self.training)
        return self.second(hidden, edges, weights)


def load_graph():
    """Edges in both directions and from each node to itself, [2, n], and their weights."""
    pairs = torch.tensor([[int(end) for end in pair.split("-")] for pair in MET.split()]).t()
    edges = torch.cat([pairs, pairs.flip(0), torch.arange(MEMBERS).expand(2, -1)], dim=1)
    degrees = torch.bincount(edges[1], minlength=MEMBERS).float()
    return edges, degrees[edges].rsqrt().prod(0)


def main():
    torch.manual_seed(0)
    edges, weights = load_graph()
    truth = torch.zeros(MEMBERS, dtype=torch.long)
    truth[list(WITH_OFFICER)] = 1
    known = torch.tensor([0, 33])
    who = torch.eye(MEMBERS)  # nothing is known of a member but who it is
    model = GCN()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=5e-3)
    steps = 100 if os.environ.get("EXAMPLE_SHORT") else 300
    for step in range(steps):
        loss = F.cross_entropy(model.train()(who, edges, weights)[known], truth[known])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (step + 1) % (steps // 5) == 0:
            with torch.no_grad():
                guess = model.eval()(who, edges, weights).argmax(1)
            right = (guess == truth).sum().item()
            print(f"step {step + 1:3d}  loss {loss.item():.4f}  {right} of {MEMBERS} members right")
    print("placed wrongly:", (guess != truth).nonzero().flatten().tolist())
    assert right >= 30, "two labels should be enough"


if __name__ == "__main__":
    main()
