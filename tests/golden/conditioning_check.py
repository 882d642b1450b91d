"""Holds the conditioned recurrence of reference.py against other ways to the same numbers.

These are a second formulation (matrices for every form of history, gates and scales folded into
the weights of unconditioned blocks, detached states), finite differences, starts that must do
nothing, a file of the plain loop, float32, and readings that are wrong and must show.
"""

import json
import math

import torch

from cases import CASES as PLAIN_CASES
from conditioning_cases import CASES, IDENTITIES, history, injection, timestep
from generate import HERE, draw_case, draw_conditioned, model_results, without_effect
from reference import blocks, head, inject, initial_state, rms_norm, run, unroll, weight_shapes

EXACT = 1e-12
DIFFERENCED = 1e-8
SINGLE = 1e-5
STORED = 1e-7


def difference(a, b):
    scale = b.abs().max().item()
    gap = (a - b).abs().max().item()
    return gap if scale == 0 else gap / scale


def largest(results, expected):
    return max(difference(results[n], e) for n, e in expected.items())


# ---------------------------------------------------------------- a second formulation


def as_matrix(value, d):
    """Any form of a lag's weight as the matrix that it stands for."""
    return value if value.dim() == 2 else torch.diag(value.expand(d))


def folded(w, m, psi, mistake):
    """Weights of unconditioned core blocks that do what gates and scales at one time do."""
    result, d = dict(w), m["d_model"]
    for k in range(m["core_layers"]):
        for b, (norm, out) in enumerate((("attn_norm", "attn.o"), ("mlp_norm", "mlp.down"))):
            branch = 1 - b if mistake == "branches swapped" else b
            if m["timestep"] == "adaln":
                both = w["timestep.adaln"][k, branch] @ psi
                scale, gate = both[:d], both[d:]
                if mistake == "gate rows before scale rows":
                    scale, gate = gate, scale
            else:
                scale, gate = torch.zeros(d), w["timestep.branch_gate"][k, branch] @ psi
            name = f"core.{k}.{norm}.weight"
            result[name] = w[name] * (1 + scale)
            name = f"core.{k}.{out}.weight"
            result[name] = (1 + gate).expand(d)[:, None] * w[name]
    return result


def features(loop, grid, mistake):
    t, dt = loop / grid, 1 / grid
    if mistake == "time from 1":
        t += dt
    cosine = math.cos(math.pi * t) - (mistake != "cosine without -1")
    return torch.tensor([t, dt, t**2, dt**2, t * dt, math.sin(math.pi * t), cosine,
                         math.sin(2 * math.pi * t)], dtype=torch.float64)


def second_states(e, w, config, loops, mistake=""):
    m, trained, backward = config["model"], *(config["loops"][k] for k in ("forward", "backward"))
    rescaled = (m["timestep_grid"] == "rescaled") != (mistake == "the other grid")
    states, seen = [initial_state(e, m)], [initial_state(e, m)]
    for loop in range(loops):
        if loops > backward > 0 and loop == loops - backward and mistake != "nothing truncated":
            states, seen = ([h.detach() for h in hs] for hs in (states, seen))
        h = states[-1]
        z = inject(h, e, w, m)
        lags = min(m["history_window"], loop if mistake == "h_0 in the history" else loop - 1)
        for j in range(1, lags + 1):
            matrix = as_matrix(w[f"history.{j}"], m["d_model"])
            past = seen[loop - j].detach() if mistake == "history detached" else seen[loop - j]
            base = z if mistake == "differences from the injected state" else h
            z = z - base @ matrix.T + past @ matrix.T
        psi = features(loop, loops if rescaled else trained, mistake)
        gated = m["timestep"] in ("branch-gate", "adaln")
        y = blocks(z, folded(w, m, psi, mistake) if gated else w, "core", m)
        q = w["timestep.loop_gate"] @ psi if m["timestep"] == "loop-gate" else torch.zeros(1)
        start = z if mistake == "loop gate from the injected state" else h
        norm_first = mistake == "loop gate after the norm"
        h = y
        for is_norm in (norm_first, not norm_first):
            if not is_norm:
                h = (1 + q) * h - q * start
            elif m["loop_norm"]:
                h = rms_norm(h, m["norm_eps"], w["loop_norm.weight"])
        states.append(h)
        seen.append(y if mistake == "history before norm and gate" else states[-1])
    return states


def second_results(w, tokens, config, loops, mistake=""):
    m, inputs = config["model"], tokens[:, :-1]
    e = blocks(w["embed.weight"][inputs], w, "prelude", m)
    states = second_states(e, w, config, loops or config["loops"]["forward"], mistake)
    logits = head(blocks(states[-1], w, "coda", m), w, m)
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    gradients = torch.autograd.grad(loss, list(w.values()), allow_unused=True,
                                    materialize_grads=True)
    results = {"logits": logits, "states": torch.stack(states), "loss": loss.reshape(1)}
    return results | {f"grad.{n}": g for n, g in zip(w, gradients)}


MISTAKES = ["h_0 in the history", "history detached", "differences from the injected state",
            "history before norm and gate", "nothing truncated", "time from 1",
            "cosine without -1", "the other grid", "branches swapped",
            "gate rows before scale rows", "loop gate from the injected state",
            "loop gate after the norm"]


def second_difference():
    worst, effects = 0.0, dict.fromkeys(MISTAKES, 0.0)
    for name, case in CASES.items():
        config, w, tokens = draw_conditioned(name, case)
        expected = model_results(w, tokens, config, case.pass_loops)
        given = w, tokens, config, case.pass_loops
        worst = max(worst, largest(second_results(*given), expected))
        for mistake in MISTAKES:
            effect = largest(second_results(*given, mistake), expected)
            effects[mistake] = max(effects[mistake], effect)
    return worst, effects


# ---------------------------------------------------------------- finite differences


def finite_difference(name, case, step=3e-4):
    """Slopes of the loss along a random direction for each weight, against its gradient.

    Four points, so that the error falls with step^4. States that truncation makes constant stay
    what they were before the weight was moved.
    """
    config, w, tokens = draw_conditioned(name, case)
    results = model_results(w, tokens, config, case.pass_loops)
    loops, backward = len(results["states"]) - 1, config["loops"]["backward"]
    constant = max(loops - backward, 0) if backward else 0
    torch.manual_seed(0)
    worst = 0.0

    def loss(weight, value):
        prefix = list(results["states"][:constant + 1]) if constant else None
        return run(tokens, w | {weight: value}, config, case.pass_loops, prefix)[2].item()

    with torch.no_grad():
        for weight, value in w.items():
            direction = torch.randn_like(value) * (value.abs().mean() or 1.0)
            far, near, back, far_back = (loss(weight, value + k * step * direction)
                                         for k in (2, 1, -1, -2))
            slope = (8 * (near - back) - (far - far_back)) / (12 * step)
            expected = results[f"grad.{weight}"] * direction
            scale = max(expected.norm().item(), 1e-4)
            worst = max(worst, abs(slope - expected.sum().item()) / scale)
    return worst


# ---------------------------------------------------------------- what the definitions imply


def identity_difference():
    """Of conditioning that does nothing yet from none: all but loop gates, and these."""
    config, w, tokens = draw_conditioned("identity_base", CASES["identity_base"])
    plain = model_results(w, tokens, config)
    worst, loop_gate = 0.0, 0.0
    for name in IDENTITIES:
        config, w, tokens = draw_conditioned(f"identity_{name}", CASES[f"identity_{name}"])
        results = model_results(w, tokens, config)
        exact = {n: plain[n] for n in ("logits", "states", "loss")}
        if name == "loop_gate":  # h + (y - h) rounds
            loop_gate = largest(results, exact)
        else:
            worst = max(worst, largest(results, exact))
    return worst, loop_gate


def read_file(path):
    """Tensors of a file as float64, read without the library of that name."""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    types = {"F32": torch.float32, "I64": torch.int64}
    tensors = {}
    for name, entry in json.loads(data[8:start]).items():
        if name != "__metadata__":
            first, last = entry["data_offsets"]
            raw = bytearray(data[start + first:start + last])
            flat = torch.frombuffer(raw, dtype=types[entry["dtype"]])
            tensors[name] = flat.reshape(entry["shape"]).double()
    return tensors


def plain_file_difference():
    """Of base_loop.safetensors from the same model with every conditioning that does nothing."""
    config, w, tokens = draw_case("base_loop", PLAIN_CASES["base_loop"])
    config["model"] |= history("dense", 2) | timestep("adaln")
    shapes = weight_shapes(config["model"])
    w |= {n: without_effect(n, shapes[n], config["model"]).requires_grad_()
          for n in shapes if n not in w}
    results = model_results(w, tokens, config)
    stored = read_file(HERE / "base_loop.safetensors")
    return largest(results, {n: stored[n] for n in results if n in stored})


def moved(name, model, w):
    config, old, tokens = draw_conditioned(name, CASES[name])
    config["model"] |= model
    return run(tokens, old | w, config)[0]


def equalities():
    """Largest difference between forms that must agree, by what they are."""
    d = 14

    def given(name):
        _, w, _ = draw_conditioned(name, CASES[name])
        return w

    scalar = given("history_scalar_2")
    as_channel = {f"history.{j}": scalar[f"history.{j}"].expand(d) for j in (1, 2)}
    as_dense = {n: torch.diag(value) for n, value in as_channel.items()}
    expected = moved("history_scalar_2", {}, {})
    gates = given("timestep_branch_gate")["timestep.branch_gate"]
    rows = torch.cat([torch.zeros(2, 2, d, 8), gates[:, :, None].expand(2, 2, d, 8)], dim=2)
    return {
        "scalar history as channels": difference(
            moved("history_scalar_2", history("channel", 2), as_channel), expected),
        "scalar history as matrices": difference(
            moved("history_scalar_2", history("dense", 2), as_dense), expected),
        "branch gates as AdaLN": difference(
            moved("timestep_branch_gate", timestep("adaln"), {"timestep.adaln": rows}),
            moved("timestep_branch_gate", {}, {})),
        "both grids with the loops of training": max(difference(
            moved(name, {"timestep_grid": "prefix"}, {}), moved(name, {}, {}))
            for name in ("timestep_loop_gate", "timestep_branch_gate", "timestep_adaln")),
    }


def passes_of_other_loops():
    """A rescaled pass is one of a model trained so; a pass on the grid of training is its begin."""
    worst = 0.0
    with torch.no_grad():
        for form in ("loop_gate", "branch_gate", "adaln"):
            for kind, loops in (("more", 5), ("fewer", 2)):
                name = f"timestep_{form}_{kind}"
                config, w, tokens = draw_conditioned(name, CASES[name])
                expected = run(tokens, w, config, loops)[1]
                config["loops"] |= {"forward": loops}
                worst = max(worst, difference(run(tokens, w, config)[1], expected))
            name = f"timestep_{form}_prefix"
            config, w, tokens = draw_conditioned(name, CASES[name])
            worst = max(worst, difference(run(tokens, w, config)[1][:4],
                                          run(tokens, w, config, 3)[1]))
    return worst


def more_loops_than_the_grid():
    config, w, _ = draw_conditioned("timestep_adaln_prefix", CASES["timestep_adaln_prefix"])
    try:
        unroll(torch.zeros(1, 2, 14, dtype=torch.float64), w, config, 6)
    except ValueError:
        return True
    return False


def single_precision(name, case):
    config, w, tokens = draw_conditioned(name, case)
    expected = model_results(w, tokens, config, case.pass_loops)
    w = {n: p.detach().float().requires_grad_() for n, p in w.items()}
    got = model_results(w, tokens, config, case.pass_loops)
    return max(difference(got[n].double(), e) for n, e in expected.items())


def check_all():
    second, effects = second_difference()
    identity, loop_gate = identity_difference()
    rows = [("second formulation, states and gradients", second, EXACT),
            ("conditioning that does nothing yet", identity, 0.0),
            ("loop gates of one, which round", loop_gate, EXACT),
            ("base_loop.safetensors with such conditioning", plain_file_difference(), STORED)]
    rows += [(text, value, EXACT) for text, value in equalities().items()]
    rows += [("passes of other loops than training", passes_of_other_loops(), EXACT),
             ("finite differences, constants of truncation kept",
              max(finite_difference(*item) for item in CASES.items()), DIFFERENCED),
             ("float32", max(single_precision(*item) for item in CASES.items()), SINGLE)]
    passed = more_loops_than_the_grid()
    for text, value, limit in rows:
        print(f"{text:56} {value:9.1e}")
        passed &= value <= limit
    for mistake, effect in effects.items():
        print(f"{'wrong: ' + mistake:56} {effect:9.1e}")
        passed &= effect > 10 * SINGLE
    print("passed" if passed else "FAILED")
    return passed
