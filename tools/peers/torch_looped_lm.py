"""A peer for `rondo bench lm --peer`: the cases' training step in PyTorch, eager or compiled.

usage: torch_looped_lm.py [--mode eager|compile] [--cases a44,b44,c44] [--steps 3] [--threads 2]

Prints one line of JSON a case: the median of the steps after two that warm up. The model has the
shapes of Rondo's cases (src/train/bench_cases.cpp), with what a careful user would reach for:
joint products for q, k, v and for gate and up, scaled_dot_product_attention, rms_norm, and the
fused AdamW. The random data, like Rondo's, say nothing about learning.
"""

import argparse
import json
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F

# width, heads, feed-forward, vocabulary, length, sequences, layers before, in and after the loop, T, B
CASES = {
    "a11": (256, 4, 683, 4096, 256, 16, 1, 2, 1, 1, 1),
    "a22": (256, 4, 683, 4096, 256, 16, 1, 2, 1, 2, 2),
    "a44": (256, 4, 683, 4096, 256, 16, 1, 2, 1, 4, 4),
    "a82": (256, 4, 683, 4096, 256, 16, 1, 2, 1, 8, 2),
    "b44": (512, 8, 1365, 8192, 512, 8, 1, 2, 1, 4, 4),
    "c44": (128, 2, 341, 256, 128, 64, 0, 2, 0, 4, 4),
}


class Layer(nn.Module):
    def __init__(self, width, heads, hidden):
        super().__init__()
        self.heads = heads
        self.norms = nn.ParameterList(torch.ones(width) for _ in range(2))
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.gate_up = nn.Linear(width, 2 * hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x, angles):
        batch, length, width = x.shape
        joint = self.qkv(F.rms_norm(x, (width,), self.norms[0], 1e-5))
        q, k, v = joint.view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        seen = F.scaled_dot_product_attention(turn(q, angles), turn(k, angles), v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).flatten(2))
        gate, up = self.gate_up(F.rms_norm(x, (width,), self.norms[1], 1e-5)).chunk(2, -1)
        return x + self.down(F.silu(gate) * up)


def turn(x, angles):
    cos, sin = angles
    first, second = x.chunk(2, -1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1)


class Looped(nn.Module):
    def __init__(self, case):
        super().__init__()
        width, heads, hidden, vocab, length, _, before, inside, after, self.loops, self.backward_loops = case
        self.width = width
        self.embed = nn.Embedding(vocab, width)
        layers = [nn.ModuleList(Layer(width, heads, hidden) for _ in range(n)) for n in (before, inside, after)]
        self.prelude, self.core, self.coda = layers
        self.inject = nn.Linear(2 * width, width, bias=False)
        self.loop_norm, self.final_norm = nn.Parameter(torch.ones(width)), nn.Parameter(torch.ones(width))
        self.head = nn.Linear(width, vocab, bias=False)
        half = width // heads // 2
        angle = torch.outer(torch.arange(length), 10000.0 ** (-torch.arange(half) / half))
        self.register_buffer("cos", angle.cos())
        self.register_buffer("sin", angle.sin())
        for weight in self.parameters():
            if weight.dim() == 2:
                nn.init.normal_(weight, std=0.02)

    def run(self, layers, x):
        for layer in layers:
            x = layer(x, (self.cos, self.sin))
        return x

    def loop(self, state, e):
        y = self.run(self.core, self.inject(torch.cat((state, e), -1)))
        return F.rms_norm(y, (self.width,), self.loop_norm, 1e-5)

    def forward(self, tokens, targets):
        state = e = self.run(self.prelude, self.embed(tokens))
        with torch.no_grad():
            for _ in range(self.loops - self.backward_loops):
                state = self.loop(state, e)
        for _ in range(self.backward_loops):
            state = self.loop(state, e)
        x = F.rms_norm(self.run(self.coda, state), (self.width,), self.final_norm, 1e-5)
        return F.cross_entropy(self.head(x).flatten(0, 1), targets.flatten())


def step_times(case, mode, steps):
    torch.manual_seed(0)
    model = Looped(case)
    forward = torch.compile(model) if mode == "compile" else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
    tokens = torch.randint(case[3], (case[5], case[4] + 1))
    times = []
    for _ in range(2 + steps):
        start = time.perf_counter()
        loss = forward(tokens[:, :-1], tokens[:, 1:])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        loss.item()
        times.append(time.perf_counter() - start)
    return times[2:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mode", choices=("eager", "compile"), default="eager")
    parser.add_argument("--cases", default="a44,b44,c44")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    for name in options.cases.split(","):
        median = statistics.median(step_times(CASES[name], options.mode, options.steps))
        print(json.dumps({"case": name, "metric": "step_time_s", "value": median}), flush=True)


if __name__ == "__main__":
    main()
