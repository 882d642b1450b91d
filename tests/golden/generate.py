"""Writes the golden files beside it: inputs and results of the reference for the C++ tests.

  generate.py                  one file per case of the …cases.py, and counts.csv
  generate.py --optimizer      optimizer.safetensors and muon.safetensors
  generate.py --muon-check     holds Muon against products and against torch
  generate.py --check          writes nothing, fails where a file would change
  generate.py --cross-check    holds the reference against the transformers library
  generate.py --conditioning-check  holds the conditioned recurrence against other formulations
  generate.py --probe-check    holds the probes against other formulations
  generate.py --rlt-check      holds the recurrent looped transformer against other formulations
  generate.py --rlt-cross-check  and against the rlt-pytorch library
"""

import argparse
import json
import math
import sys
import tomllib
import zlib
from functools import partial
from pathlib import Path

import numpy as np
import torch

import conditioning_cases
import counts
import muon
import probe_cases
import probes
import rlt_cases
import rlt_reference
from cases import CASES
from conditioning_cases import REDRAWN
from reference import run, weight_shapes

HERE = Path(__file__).parent
SHAPES = {"looped": weight_shapes, "rlt": rlt_reference.weight_shapes}
ZERO = 1e-9  # every true gradient has entries of 1e-4 and more
TYPES = {np.dtype(np.int64): "I64", np.dtype(np.float32): "F32"}


def stream(*key):
    """A random stream of its own for each key, so that new cases leave the old files alone."""
    return np.random.default_rng(zlib.crc32("/".join(key).encode()))


def toml(config):
    """JSON spells the values used here as TOML does."""
    lines = []
    for section, keys in config.items():
        lines += [f"[{section}]"] + [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    text = "\n".join(lines) + "\n"
    if tomllib.loads(text) != config:
        raise ValueError(f"not the same config in TOML:\n{text}")
    return text


def safetensors(tensors, metadata):
    """The bytes of a file. The library of that name leaves the order of the metadata to chance."""
    header, chunks, offset = {"__metadata__": metadata}, [], 0
    for name, array in sorted(tensors.items(), key=lambda item: (-item[1].itemsize, item[0])):
        end = offset + array.nbytes
        header[name] = {"dtype": TYPES[array.dtype], "shape": list(array.shape),
                        "data_offsets": [offset, end]}
        chunks.append(array.astype(array.dtype.newbyteorder("<")).tobytes())
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + b"".join(chunks)


# ---------------------------------------------------------------- model files


def draw(case_name, name, shape, embed_std):
    """Values no wrong formula can hide behind: gains off 1, injections far from the identity.

    They are mild enough for float32 to stay within a few 1e-6 of float64, gradients included.
    """
    rng = stream(case_name, name)
    if name.endswith("norm.weight"):
        values = rng.uniform(0.5, 1.5, shape)
    elif name == "embed.weight":
        values = rng.normal(0, embed_std, shape)
    elif name.startswith("history.") and len(shape) == 1:
        values = rng.uniform(0.2, 0.5, shape) * rng.choice([-1, 1], shape)
    elif name in ("inject.a", "inject.b"):
        values = rng.uniform(0.3, 0.9, shape) * rng.choice([-1, 1], shape)
    elif name in ("merge.initial", "merge.gate.bias"):
        values = rng.normal(0, 0.8, shape)
    else:
        values = rng.normal(0, 0.8 / math.sqrt(shape[-1]), shape)
    stored = values.astype(np.float32)  # what the file holds is what the reference computes with
    return torch.tensor(stored, dtype=torch.float64, requires_grad=True)


def draw_case(name, case):
    config = case.config()
    w = {n: draw(name, n, shape, case.embed_std)
         for n, shape in SHAPES[config["model"]["kind"]](config["model"]).items()}
    size = (case.batch, case.sequence + 1)
    tokens = torch.tensor(stream(name, "tokens").integers(0, config["model"]["vocab"], size))
    return config, w, tokens


def without_effect(name, shape, m):
    """Weights of conditioning as training starts with them."""
    if name == "inject.a" and m["injection"] == "channel":
        return torch.ones(shape, dtype=torch.float64)
    if name == "inject.weight":
        return torch.eye(*shape, dtype=torch.float64)
    return torch.zeros(shape, dtype=torch.float64)


def draw_conditioned(name, case):
    key = "identity" if case.identity else name + "'" * REDRAWN.get(name, 0)
    config, w, tokens = draw_case(f"conditioning/{key}", case)
    if case.identity:
        w |= {n: without_effect(n, p.shape, config["model"]).requires_grad_()
              for n, p in w.items() if n.startswith(("inject.", "history.", "timestep."))}
    return config, w, tokens


def model_results(w, tokens, config, pass_loops=0):
    """Everything in a model file but what is given."""
    logits, states, loss = run(tokens, w, config, pass_loops)
    gradients = torch.autograd.grad(loss, list(w.values()), allow_unused=True,
                                    materialize_grads=True)
    results = {"logits": logits, "states": states, "loss": loss.reshape(1)}
    results |= {f"grad.{n}": g for n, g in zip(w, gradients)}
    return {n: t.detach() for n, t in results.items()}


def model_bytes(config, w, tokens, metadata, pass_loops=0):
    results = model_results(w, tokens, config, pass_loops)
    results |= {f"weight.{n}": p.detach() for n, p in w.items()}
    tensors = {n: t.numpy().astype(np.float32) for n, t in results.items()}
    tensors["tokens"] = tokens.numpy()
    return safetensors(tensors, metadata | {"rondo.config": toml(config)})


def model_file(name, case):
    return model_bytes(*draw_case(name, case), {"case": case.text})


def conditioning_file(name, case):
    metadata = {"case": case.text}
    if case.pass_loops:
        metadata["loops"] = str(case.pass_loops)
    return model_bytes(*draw_conditioned(name, case), metadata, case.pass_loops)


def probe_results(name, case, dtype=torch.float64):
    """Config, given tensors, values of every probe, and the occurrences of blocks."""
    config, w, tokens = draw_case(f"probes/{name}", case)
    outputs = [f"{block}.{out}.weight" for block in case.silent for out in ("attn.o", "mlp.down")]
    w = {n: (p.detach() * (n not in outputs)).to(dtype).requires_grad_() for n, p in w.items()}
    selected = torch.tensor(case.counts)
    values, sites = probes.all_probes(tokens, selected, w, config, case.pass_loops)
    given = {"tokens": tokens, "counts": selected}
    given |= {f"weight.{n}": p.detach() for n, p in w.items()}
    return config, given, values, sites


def probe_file(name, case):
    config, given, values, sites = probe_results(name, case)
    tensors = {n: t.numpy() if t.dtype == torch.int64 else t.numpy().astype(np.float32)
               for n, t in (given | values).items()}
    return safetensors(tensors, {"case": case.text, "rondo.config": toml(config),
                                 "loops": str(case.pass_loops), "occurrences": json.dumps(sites)})


def masked_targets(tokens, supervised):
    targets = tokens[:, 1:].clone()
    for example, positions in enumerate(supervised):
        targets[example, [t for t in range(targets.shape[1]) if t not in positions]] = -1
    return targets


def rlt_results(name, case, dtype=torch.float64):
    """Everything in a file of the recurrent looped transformer, computed in dtype."""
    config, w, tokens = draw_case(f"rlt/{name}", case)
    w = {n: p.detach().to(dtype).requires_grad_() for n, p in w.items()}
    targets = masked_targets(tokens, case.supervised)
    logits, states = rlt_reference.forward(tokens[:, :-1], w, config)
    losses = dict(zip(("", "example_"), rlt_reference.losses(logits, targets)))
    if not case.supervised:
        del losses["example_"]
    results = {"tokens": tokens, "logits": logits, "states": states}
    results |= {f"weight.{n}": p for n, p in w.items()}
    if case.supervised:
        results["targets"] = targets
    for prefix, loss in losses.items():
        results[f"{prefix}loss"] = loss.reshape(1)
        gradients = torch.autograd.grad(loss, list(w.values()), retain_graph=True,
                                        allow_unused=True, materialize_grads=True)
        # What is zero but for rounding, as of keys in a window of one, has no relative error.
        results |= {f"{prefix}grad.{n}": g if g.abs().max() > ZERO else torch.zeros_like(g)
                    for n, g in zip(w, gradients)}
    return config, {n: t.detach() for n, t in results.items()}


def rlt_file(name, case):
    config, results = rlt_results(name, case)
    tensors = {n: t.numpy() if t.dtype == torch.int64 else t.numpy().astype(np.float32)
               for n, t in results.items()}
    metadata = {"case": case.text, "rondo.config": toml(config)}
    if aliases := rlt_reference.aliases(config["model"]):
        metadata["rondo.aliases"] = json.dumps(aliases)
    return safetensors(tensors, metadata)


# ---------------------------------------------------------------- optimizer file

TRAIN = {"steps": 100, "optimizer": "adamw", "learning_rate": 1e-2, "min_learning_rate": 1e-3,
         "schedule": "cosine", "warmup_steps": 10, "weight_decay": 0.1, "betas": [0.9, 0.95],
         "eps": 1e-8, "clip": 1.0}
PARAMETERS = {"matrix": [7, 5], "vector": [6], "small": [4, 3]}
SNAPSHOTS = (1, 10, 100)


def learning_rate(step):
    """Linear from 0 to the peak at the end of the warm-up, then half a cosine; steps from 1."""
    peak, floor = TRAIN["learning_rate"], TRAIN["min_learning_rate"]
    warmup, steps = TRAIN["warmup_steps"], TRAIN["steps"]
    if step <= warmup:
        return peak * step / warmup
    turn = math.pi * (step - warmup) / (steps - warmup)
    return floor + (peak - floor) * (1 + math.cos(turn)) / 2


def optimizer_gradients(name):
    """Normal, in turn below and above the clip. A row of `small` is so tiny that eps counts."""
    size = np.array([0.05, 0.2, 0.6])[np.arange(TRAIN["steps"]) % 3]
    g = stream("optimizer", "gradient", name).normal(size=[TRAIN["steps"], *PARAMETERS[name]])
    g *= size.reshape([-1] + [1] * len(PARAMETERS[name]))
    if name == "small":
        g[:, 0] *= 1e-7
    return g.astype(np.float32)


def adamw(p, m, v, g, step, lr, decay):
    """One step in float64: decay first, then the bias-corrected move with eps outside the root."""
    beta1, beta2 = TRAIN["betas"]
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    move = m / (1 - beta1**step) / (np.sqrt(v / (1 - beta2**step)) + TRAIN["eps"])
    return p * (1 - lr * decay) - lr * move, m, v


def optimizer_file():
    rates = np.array([learning_rate(k + 1) for k in range(TRAIN["steps"])], np.float32)
    gradients = {n: optimizer_gradients(n) for n in PARAMETERS}
    decay = {n: np.float32(TRAIN["weight_decay"] if len(s) == 2 else 0)
             for n, s in PARAMETERS.items()}
    initial = {n: stream("optimizer", "initial", n).normal(size=s).astype(np.float32)
               for n, s in PARAMETERS.items()}
    tensors = {"learning_rate": rates, "gradient_norm": np.zeros(TRAIN["steps"], np.float32)}
    for n in PARAMETERS:
        tensors |= {f"initial.{n}": initial[n], f"gradient.{n}": gradients[n]}
        tensors[f"weight_decay.{n}"] = decay[n].reshape(1)
    state = {n: (p.astype(float), np.zeros(p.shape), np.zeros(p.shape))
             for n, p in initial.items()}
    for step in range(1, TRAIN["steps"] + 1):
        raw = {n: g[step - 1].astype(float) for n, g in gradients.items()}
        norm = math.sqrt(sum((g * g).sum() for g in raw.values()))
        tensors["gradient_norm"][step - 1] = norm
        scale = min(1.0, TRAIN["clip"] / norm)
        lr = float(rates[step - 1])
        for n in PARAMETERS:
            wd = TRAIN["weight_decay"] if decay[n] else 0.0
            state[n] = adamw(*state[n], raw[n] * scale, step, lr, wd)
            if step in SNAPSHOTS:
                for what, value in zip(("parameter", "m", "v"), state[n]):
                    tensors[f"step_{step}.{what}.{n}"] = value.astype(np.float32)
    text = "100 AdamW steps in float64: decoupled decay, clip by the norm over all three tensors"
    return safetensors(tensors, {"case": text, "rondo.config": toml({"train": TRAIN})})


def muon_file():
    text = "20 Muon steps in float64 with both scales; norms of the gradients below and above the clip"
    return safetensors(muon.tensors(stream),
                       {"case": text, "rondo.config": toml({"train": muon.TRAIN})})


# ---------------------------------------------------------------- command line


def all_files():
    """Each path with the function that makes its bytes."""
    for name, case in CASES.items():
        yield HERE / f"{name}.safetensors", partial(model_file, name, case)
    for name, case in conditioning_cases.CASES.items():
        path = HERE / "conditioning" / f"{name}.safetensors"
        yield path, partial(conditioning_file, name, case)
    for name, case in probe_cases.CASES.items():
        yield HERE / "probes" / f"{name}.safetensors", partial(probe_file, name, case)
    for name, case in rlt_cases.CASES.items():
        yield HERE / "rlt" / f"{name}.safetensors", partial(rlt_file, name, case)
    yield HERE / "counts.csv", counts.table
    yield HERE / "optimizer.safetensors", optimizer_file
    yield HERE / "muon.safetensors", muon_file


def check():
    expected = dict(all_files())
    stale = [p.name for p in HERE.rglob("*.safetensors") if p not in expected]
    changed = [p.name for p, make in expected.items()
               if not p.exists() or p.read_bytes() != make()]
    if stale or changed:
        sys.exit(f"would change: {changed}; belong to no case: {stale}")
    print(f"{len(expected)} files are as the generator writes them")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--optimizer", action="store_true")
    parser.add_argument("--muon-check", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--cross-check", action="store_true")
    parser.add_argument("--conditioning-check", action="store_true")
    parser.add_argument("--probe-check", action="store_true")
    parser.add_argument("--rlt-check", action="store_true")
    parser.add_argument("--rlt-cross-check", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.cross_check:
        from cross_check import cross_check  # the only part that needs transformers
        sys.exit(0 if cross_check() else 1)
    if options.muon_check:
        sys.exit(0 if muon.check(stream) else 1)
    if options.conditioning_check:
        from conditioning_check import check_all
        sys.exit(0 if check_all() else 1)
    if options.probe_check:
        from probe_check import check_all
        sys.exit(0 if check_all() else 1)
    if options.rlt_check:
        from rlt_check import check_all
        sys.exit(0 if check_all() else 1)
    if options.rlt_cross_check:
        from rlt_cross_check import cross_check  # the only part that needs rlt-pytorch
        sys.exit(0 if cross_check() else 1)
    if options.check:
        check()
        return
    for path, make in all_files():
        if (path.stem in ("optimizer", "muon")) == options.optimizer:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(make())
            print(f"{path.name} {path.stat().st_size}")


if __name__ == "__main__":
    main()
