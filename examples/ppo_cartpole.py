"""Learns to balance a pole on a cart by proximal policy optimization (Schulman et al., 2017); many carts run at once.

python -m vivace examples/ppo_cartpole.py
"""

import math
import os

import torch
import torch.nn as nn
from torch.distributions import Categorical

CARTS, LENGTH, DISCOUNT, TRACE, CLIP = 16, 128, 0.99, 0.95, 0.2


class CartPoles:
    """CARTS carts, each pushed left or right with a fixed force, 50 times a second. The state is where a cart is, how
    fast, the angle of its pole, how fast that turns. A cart starts anew when it leaves the track, its pole falls, or
    after 500 steps.
    """

    force, half_length, cart, pole, gravity, dt = 10.0, 0.5, 1.0, 0.1, 9.8, 0.02

    def __init__(self):
        self.state = torch.empty(CARTS, 4).uniform_(-0.05, 0.05)
        self.age = torch.zeros(CARTS)

    def step(self, push):
        """Takes 0 or 1 for each cart; gives the states, which carts had to start anew, and the lengths they reached."""
        _, speed, angle, turning = self.state.unbind(1)
        mass = self.cart + self.pole
        sin, cos = angle.sin(), angle.cos()
        thrust = (self.force * (2 * push - 1) + self.pole * self.half_length * turning**2 * sin) / mass
        bend = (self.gravity * sin - cos * thrust) / (self.half_length * (4 / 3 - self.pole * cos**2 / mass))
        motion = torch.stack([speed, thrust - self.pole * self.half_length * bend * cos / mass, turning, bend], dim=1)
        self.state = self.state + self.dt * motion
        self.age += 1
        lost = (self.state[:, 0].abs() > 2.4) | (self.state[:, 2].abs() > math.radians(12))
        over = lost | (self.age >= 500)
        lengths = self.age[over]
        self.state[over] = torch.empty(len(lengths), 4).uniform_(-0.05, 0.05)
        self.age[over] = 0
        return self.state, over, lengths


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = self.network(2, 0.01)
        self.critic = self.network(1, 1.0)

    @staticmethod
    def network(outputs, scale):
        layers = [nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs)]
        for layer, gain in zip(layers[::2], (math.sqrt(2), math.sqrt(2), scale), strict=True):
            nn.init.orthogonal_(layer.weight, gain)
            nn.init.zeros_(layer.bias)
        return nn.Sequential(*layers)

    def forward(self, states):
        return Categorical(logits=self.actor(states)), self.critic(states).squeeze(-1)


@torch.no_grad()
def play(agent, carts):
    """LENGTH steps of all carts: states, pushes, log-probabilities, advantages, returns; and lengths of episodes."""
    records, lengths = [], []
    state = carts.state
    for _ in range(LENGTH):
        policy, value = agent(state)
        push = policy.sample()
        following, over, reached = carts.step(push)
        records.append((state, push, policy.log_prob(push), value, over))
        lengths += reached.tolist()
        state = following
    states, pushes, log_probs, values, overs = (torch.stack(column) for column in zip(*records, strict=True))
    goes_on = (~overs).float()
    following = torch.cat([values[1:], agent(state)[1][None]])
    surprise = 1 + DISCOUNT * goes_on * following - values  # each step earns 1
    advantages, running = torch.empty_like(surprise), torch.zeros(CARTS)
    for t in reversed(range(LENGTH)):
        running = surprise[t] + DISCOUNT * TRACE * goes_on[t] * running
        advantages[t] = running
    batch = (states, pushes, log_probs, advantages, advantages + values)
    return [part.flatten(0, 1) for part in batch], lengths


def improve(agent, optimizer, batch):
    """Four passes over what was played, in small batches, never far from the policy that played it."""
    for _ in range(4):
        for chosen in torch.randperm(CARTS * LENGTH).split(256):
            states, pushes, log_probs, advantages, returns = (part[chosen] for part in batch)
            policy, value = agent(states)
            ratio = (policy.log_prob(pushes) - log_probs).exp()
            gain = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
            gained = torch.min(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
            loss = -gained + 0.5 * (value - returns).square().mean() - 0.01 * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()


def main():
    torch.manual_seed(0)
    agent, carts = Agent(), CartPoles()
    optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3, eps=1e-5)
    rounds = 12 if os.environ.get("EXAMPLE_SHORT") else 60
    history = []
    for i in range(rounds):
        batch, lengths = play(agent, carts)
        improve(agent, optimizer, batch)
        history.append(sum(lengths) / max(len(lengths), 1))
        if (i + 1) % (rounds // 6) == 0:
            print(f"round {i + 1:3d}  the pole stays up for {history[-1]:5.1f} steps")
    assert max(history[-3:]) > 3 * history[0], "it did not learn to balance"


if __name__ == "__main__":
    main()
