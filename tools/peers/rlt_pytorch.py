"""A peer for `rondo bench rlt --peer`: a training step of rlt-pytorch (PyPI) with feedback at every token.

usage: rlt_pytorch.py [--shapes 32x24,128x40] [--interval 1] [--steps 1] [--threads 2]

Prints one line of JSON a shape (sequences x tokens), named like the Rondo case of that shape. Sizes
are those of `rondo bench rlt`; rlt-pytorch's blocks differ in detail (GELU, no norm of queries and
keys), and its feed-forward factor 4 gives it 28.75 M parameters against 28.73 M.
"""

import argparse
import json
import statistics
import time

import torch
from RLT import RLT


def step_times(sequences, tokens, interval, steps):
    torch.manual_seed(0)
    model = RLT(
        num_tokens=277, dim=512, enc_depth=4, dec_depth=4, heads=4, dim_head=128, ff_expansion_factor=4,
        recurrent_transition_alpha=0.1, dec_sliding_window_size=8, recurrent_block_size=interval)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
    ids = torch.randint(277, (sequences, tokens + 1))
    times = []
    for _ in range(1 + steps):
        start = time.perf_counter()
        loss = model(ids, return_loss=True)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        loss.item()
        times.append(time.perf_counter() - start)
    return times[1:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", default="32x24,128x40")
    parser.add_argument("--interval", type=int, default=1)
    parser.add_argument("--steps", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    for shape in options.shapes.split(","):
        sequences, tokens = (int(number) for number in shape.split("x"))
        median = statistics.median(step_times(sequences, tokens, options.interval, options.steps))
        name = f"RLT-{options.interval}:train.batch={sequences}:data.sequence_length={tokens}"
        print(json.dumps({"case": name, "metric": "step_time_s", "value": median}), flush=True)


if __name__ == "__main__":
    main()
