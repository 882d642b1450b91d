"""Holds probes.py against other ways to the same numbers.

These are a model unrolled into blocks with weights of their own, where to skip a block is to take
its outputs away, ready-made functions of the library, finite differences, eigenvalues of the
whole map, sums that must come out, and published counts of pairs.
"""

import torch

import probes
from conditioning_check import difference, features, folded
from generate import probe_results
from probe_cases import CASES
from reference import (block, blocks, end_of_loop, head, history_terms, initial_state, inject,
                       layer_names, one_loop, run, time_grid)

EXACT = 1e-12
DIFFERENCED = 1e-7
SINGLE = 1e-5
NO_ANGLE = 1e-7  # what rounding of the cosine makes of a vector and itself


def silenced(w, name):
    outputs = {f"{name}.attn.o.weight", f"{name}.mlp.down.weight"}
    return w | {n: torch.zeros_like(w[n]) for n in outputs}


def unrolled(inputs, w, config, loops, silent=None):
    """Inputs and outputs [N, S, D] of all blocks, and states, of inputs [N, S]."""
    m, seen = config["model"], []

    def apply(x, name, weights):
        y = block(x, silenced(weights, name) if len(seen) == silent else weights, name, m)
        seen.append((x, y))
        return y

    x = w["embed.weight"][inputs]
    for name in layer_names("prelude", m):
        x = apply(x, name, w)
    e, states = x, [initial_state(x, m)]
    for loop in range(loops):
        psi = features(loop, time_grid(config, loops), "")
        gated = m["timestep"] in ("branch-gate", "adaln")
        weights = folded(w, m, psi, "") if gated else w
        x = sum(history_terms(states, w, m), inject(states[-1], e, w, m))
        for name in layer_names("core", m):
            x = apply(x, name, weights)
        states.append(end_of_loop(states[-1], x, psi, w, m))
    x = states[-1]
    for name in layer_names("coda", m):
        x = apply(x, name, w)
    return seen, states


def selection(case):
    return torch.stack([torch.arange(case.sequence) < n for n in case.counts])


def at_ends(x, case):
    return torch.stack([x[k, n - 1] for k, n in enumerate(case.counts)])


def path_and_interaction_difference(case, config, given, w, values):
    chosen, inputs = selection(case), given["tokens"][:, :-1]
    seen, states = unrolled(inputs, w, config, case.pass_loops)
    cosine = torch.nn.functional.cosine_similarity
    worst = 0.0
    for site, pairs in (("block", seen), ("loop", list(zip(states, states[1:])))):
        turn = [(cosine(at_ends(x, case), at_ends(y, case), dim=-1).clamp(-1, 1).arccos()
                 / torch.pi).mean() for x, y in pairs]
        size = [torch.linalg.vector_norm(y - x, dim=-1) / torch.linalg.vector_norm(x, dim=-1)
                for x, y in pairs]
        size = torch.stack([s[chosen].mean() for s in size])
        angles = [x * (x > NO_ANGLE) for x in (values[f"angle.{site}"], torch.stack(turn))]
        worst = max(worst, difference(*angles),
                    difference(values[f"update.{site}"], size))
    spread = torch.stack([h.var(-1)[chosen].mean() for h in states])
    worst = max(worst, difference(values["variance.state"], spread))
    change = torch.zeros(len(seen), len(seen), dtype=torch.float64)
    for i in range(len(seen)):
        skipped, _ = unrolled(inputs, w, config, case.pass_loops, silent=i)
        for j in range(i + 1, len(seen)):
            (x, y), (x0, y0) = skipped[j], seen[j]
            change[i, j] = torch.linalg.vector_norm(y - x - (y0 - x0), dim=-1)[chosen].mean()
    base = torch.stack([torch.linalg.vector_norm(y - x, dim=-1)[chosen].mean() for x, y in seen])
    share = torch.where(base == 0, 0.0, change / base)
    return max(worst, difference(values["interaction.change"], change),
               difference(values["interaction"], share))


def sums_difference(case, config, given, w, values):
    """Losses, telescoping gains, and weight gradients of all loops together."""
    m, chosen = config["model"], selection(case)
    full = config | {"loops": config["loops"] | {"backward": 0}}
    w = {n: p.clone().requires_grad_() for n, p in w.items()}
    logits, states, _ = run(given["tokens"], w, full, case.pass_loops)
    entropy = torch.nn.functional.cross_entropy(
        logits.transpose(1, 2), given["tokens"][:, 1:], reduction="none")[chosen].mean()
    names = [n for n in w if n.startswith(probes.RECURRENT)]
    whole = torch.autograd.grad(entropy, [w[n] for n in names], allow_unused=True,
                                materialize_grads=True)
    parts = [0.0] * len(names)
    for inputs, targets in probes.each_sequence(given["tokens"], given["counts"]):
        copies = [{n: w[n].detach().clone().requires_grad_() for n in names}
                  for _ in range(case.pass_loops)]
        e = probes.prelude_output(inputs, w, m)
        hs = [initial_state(e, m)]
        for copy in copies:
            hs.append(one_loop(hs, e, w | copy, m, time_grid(config, case.pass_loops)))
        out = head(blocks(hs[-1], w, "coda", m), w, m)[0]
        loss = probes.cross_entropy(out, targets).sum() / sum(case.counts)
        grads = torch.autograd.grad(loss, [c[n] for c in copies for n in names],
                                    allow_unused=True, materialize_grads=True)
        parts = [p + sum(grads[k::len(names)]) for k, p in enumerate(parts)]
    gains = (values["variance.gain_inject"] * values["variance.gain_core"]
             * values["variance.gain_mix"])
    state = values["variance.state"]
    rows = torch.stack([h[chosen] for h in states])
    return max([difference(values["logit_lens"][-1], entropy.detach()),
                difference(gains, state[1:] / state[:-1]),
                difference(state, rows.var(-1).mean(-1).detach())]
               + [difference(p, g) for p, g in zip(parts, whole)])


def gradient_difference(case, config, given, w, values, step=1e-4):
    """The norm of the gradient of each state, from central differences for each of its entries."""
    m, loops, worst = config["model"], case.pass_loops, 0.0
    for k in range(loops + 1):
        square = 0.0
        for inputs, targets in probes.each_sequence(given["tokens"], given["counts"]):
            e = probes.prelude_output(inputs, w, m)
            states = [initial_state(e, m)]
            for _ in range(k):
                states.append(one_loop(states, e, w, m, time_grid(config, loops)))
            moves = torch.eye(states[-1].numel()).double().reshape(-1, *states[-1].shape[1:])
            sides, many_e = [], e.expand(len(moves), -1, -1)
            for sign in (1, -1):
                hs = [*states[:-1], states[-1] + sign * step * moves]
                for _ in range(k, loops):
                    hs.append(one_loop(hs, many_e, w, m, time_grid(config, loops)))
                logits = head(blocks(hs[-1], w, "coda", m), w, m)
                flat = torch.nn.functional.cross_entropy(
                    logits.transpose(1, 2), targets.expand(len(moves), -1), reduction="none")
                sides.append(flat.sum(-1) / sum(case.counts))
            square += ((sides[0] - sides[1]) / (2 * step)).square().sum()
        worst = max(worst, difference(square.sqrt(), values["gradient_flow.state"][k]))
    return worst


def spectrum_difference(case, config, given, w, values):
    """The largest eigenvalue of each loop's map of all positions at once."""
    m, loops, radii = config["model"], case.pass_loops, []
    for inputs, _ in probes.each_sequence(given["tokens"], given["counts"]):
        e = probes.prelude_output(inputs, w, m)
        states = [initial_state(e, m)]
        for _ in range(loops):
            past, grid, h = states[:-1], time_grid(config, loops), states[-1]
            full = torch.autograd.functional.jacobian(
                lambda h: one_loop([*past, h], e, w, m, grid), h)
            size = h.numel()
            radii.append(torch.linalg.eigvals(full.reshape(size, size)).abs().max())
            states.append(one_loop(states, e, w, m, grid))
    means = torch.stack(radii).reshape(-1, loops).mean(0)
    return difference(values["spectral_radius.whole"], means)


def published_pairs():
    """Pairs of a 4x7 model at L loops, and the skips of Llama's layouts of four layers."""
    fits = []
    for loops in (9, 14, 21):
        loop_of = [1 + k // 4 for k in range(4 * loops)]
        counts = probes.lags(torch.ones(4 * loops, 4 * loops), loop_of, 7)["interaction.lag_pairs"]
        expected = [6 * (loops - 7)] + [16 * (loops - 7 - d) for d in range(1, loops - 7)]
        fits.append(counts.tolist() == expected)
    for p, s, c, trained in ((0, 4, 0, 5), (0, 2, 2, 9), (1, 2, 1, 9), (2, 2, 0, 9)):
        loops = (40 - p - c) // s
        loop_of = [0] * p + [1 + k // s for k in range(s * loops)] + [0] * c
        config = {"model": {"prelude_layers": p, "core_layers": s, "coda_layers": c},
                  "loops": {"forward": trained}}
        skips = probes.response(torch.ones(40, 40), loop_of, config, loops)["response.skips"]
        fits.append((skips + 1).tolist() == [21, 22, 23, 24])
    return all(fits)


def single_precision(name, case, values):
    got = probe_results(name, case, torch.float32)[2]
    return max(difference(got[n].double(), e.double()) for n, e in values.items())


def check_all():
    worst = dict.fromkeys(("unrolled into blocks of their own", "sums that must come out",
                           "gradients by differences", "eigenvalues of whole maps", "float32"), 0.0)
    limits = (EXACT, EXACT, DIFFERENCED, DIFFERENCED, SINGLE)
    for name, case in CASES.items():
        config, given, values, _ = probe_results(name, case)
        w = {n.removeprefix("weight."): p for n, p in given.items() if n.startswith("weight.")}
        given = case, config, given, w, values
        with torch.no_grad():
            found = [path_and_interaction_difference(*given)]
        found.append(sums_difference(*given))
        with torch.no_grad():
            found.append(gradient_difference(*given))
        found += [spectrum_difference(*given), single_precision(name, case, values)]
        worst = {text: max(old, new) for (text, old), new in zip(worst.items(), found)}
    passed = published_pairs()
    print(f"{'published pairs and skips':56} {passed!s:>9}")
    for (text, value), limit in zip(worst.items(), limits):
        print(f"{text:56} {value:9.1e}")
        passed &= value <= limit
    print("passed" if passed else "FAILED")
    return passed
