"""The probes of `diagnose` in plain formulas: one sequence at a time, one skipped block at a time.

A sequence [S + 1] has its first `count` positions selected. Block occurrences are numbered in the
order in which they run, each pass through a core block separately; loops count from 1, states
from 0, which is the state before the first loop. Norms and angles are those of one position's
vector.
"""

import math
from dataclasses import dataclass

import torch

from reference import (block, blocks, branch_conditions, end_of_loop, head, history_terms,
                       initial_state, inject, layer_names, one_loop, time_features, time_grid)

SMALL_NORM = 1e-12
SMALL_UPDATE = 1e-8
RECURRENT = ("core.", "inject.", "history.", "timestep.", "loop_norm.")


@dataclass
class Occurrence:
    name: str
    loop: int  # 0 outside the loops
    before: torch.Tensor  # [S, D]
    after: torch.Tensor

    @property
    def update(self):
        return self.after - self.before


@dataclass
class Trace:
    occurrences: list
    states: list  # [S, D] each
    injected: list  # what the core gets, by loop
    core: list  # what it gives


def cross_entropy(logits, targets):
    """By position."""
    return logits.exp().sum(-1).log() - logits.gather(-1, targets[:, None]).squeeze(-1)


def trace(inputs, w, config, loops, skip=None):
    """One pass over inputs [S]. Where the occurrence numbered `skip` would run, nothing happens."""
    m, occurrences = config["model"], []

    def run_block(x, name, loop, conditions=((0.0, 1.0), (0.0, 1.0))):
        y = x if len(occurrences) == skip else block(x, w, name, m, conditions)
        occurrences.append(Occurrence(name, loop, x[0], y[0]))
        return y

    x = w["embed.weight"][inputs[None]]
    for name in layer_names("prelude", m):
        x = run_block(x, name, 0)
    e, states, injected, core = x, [initial_state(x, m)], [], []
    for loop in range(1, loops + 1):
        psi = time_features(loop - 1, time_grid(config, loops)).to(e.dtype)
        y = sum(history_terms(states, w, m), inject(states[-1], e, w, m))
        injected.append(y[0])
        for layer, name in enumerate(layer_names("core", m)):
            y = run_block(y, name, loop, branch_conditions(layer, psi, w, m))
        core.append(y[0])
        states.append(end_of_loop(states[-1], y, psi, w, m))
    x = states[-1]
    for name in layer_names("coda", m):
        x = run_block(x, name, 0)
    return Trace(occurrences, [h[0] for h in states], injected, core)


class Passes:
    """Traces of all sequences, and means over their selected positions."""

    def __init__(self, tokens, counts, w, config, loops, skip=None):
        self.counts, self.m = counts, config["model"]
        self.loops, self.trained = loops, config["loops"]["forward"]
        self.traces = [trace(row[:-1], w, config, loops, skip) for row in tokens]

    def select(self, get):
        """For each sequence what `get` finds in its trace at the selected positions [count, D]."""
        return [get(t)[:n].double() for t, n in zip(self.traces, self.counts)]

    def mean(self, f, *gets):
        """Of f [count] over all selected positions of all sequences alike."""
        return torch.cat([f(*xs) for xs in zip(*map(self.select, gets))]).mean()

    def last(self, f, *gets):
        """Of f over the last selected position of each sequence."""
        return torch.stack([f(*xs)[-1] for xs in zip(*map(self.select, gets))]).mean()

    def blocks(self, average, f):
        numbers = range(len(self.traces[0].occurrences))
        return torch.stack([average(f, lambda t, k=k: t.occurrences[k].before,
                                    lambda t, k=k: t.occurrences[k].after) for k in numbers])

    def steps(self, average, f):
        return torch.stack([average(f, lambda t, k=k: t.states[k], lambda t, k=k: t.states[k + 1])
                            for k in range(self.loops)])


# ---------------------------------------------------------------- the path of the state


def angle(u, v):
    """Between rows, as a share of half a turn."""
    cosine = (u * v).sum(-1) / (u.norm(dim=-1) * v.norm(dim=-1)).clamp(min=SMALL_NORM)
    return cosine.clamp(-1, 1).arccos() / math.pi


def relative_update(u, v):
    return (v - u).norm(dim=-1) / u.norm(dim=-1).clamp(min=SMALL_NORM)


def variance(x):
    """Over the channels, by position."""
    return ((x - x.mean(-1, keepdim=True)) ** 2).sum(-1) / (x.shape[-1] - 1)


def path(passes):
    state = [passes.mean(variance, lambda t, k=k: t.states[k]) for k in range(passes.loops + 1)]
    injected, core = ([passes.mean(variance, lambda t, k=k: getattr(t, stage)[k])
                       for k in range(passes.loops)] for stage in ("injected", "core"))
    results = {"angle.block": passes.blocks(passes.last, angle),
               "angle.loop": passes.steps(passes.last, angle),
               "update.block": passes.blocks(passes.mean, relative_update),
               "update.loop": passes.steps(passes.mean, relative_update),
               "variance.state": torch.stack(state)}
    if passes.loops >= passes.trained:
        results["variance.normalised"] = torch.stack(state) / state[passes.trained]
    stages = {"inject": (state[:-1], injected), "core": (injected, core), "mix": (core, state[1:])}
    for stage, (before, after) in stages.items():
        results[f"variance.gain_{stage}"] = torch.stack(after) / torch.stack(before)
    return results


# ---------------------------------------------------------------- who depends on whom


def interaction(tokens, counts, w, config, loops):
    """What skipping occurrence i changes in the update of each later j: [L, L], 0 elsewhere."""
    whole = Passes(tokens, counts, w, config, loops)
    total = len(whole.traces[0].occurrences)

    def updates(passes):
        return [torch.cat(passes.select(lambda t, j=j: t.occurrences[j].update))
                for j in range(total)]

    expected = updates(whole)
    base = torch.stack([u.norm(dim=-1).mean() for u in expected])
    change = torch.zeros(total, total, dtype=torch.float64)
    for i in range(total):
        skipped = updates(Passes(tokens, counts, w, config, loops, skip=i))
        for j in range(i + 1, total):
            change[i, j] = (skipped[j] - expected[j]).norm(dim=-1).mean()
    share = torch.where(base > SMALL_UPDATE, change / base, 0.0)
    return {"interaction.change": change, "interaction.update": base, "interaction": share}


def lags(share, loop_of, after):
    """Means over pairs of core occurrences in loops beyond `after` that lie d loops apart."""
    pairs = {}
    for i, first in enumerate(loop_of):
        for j in range(i + 1, len(loop_of)):
            if first > after and loop_of[j] > after:
                pairs.setdefault(loop_of[j] - first, []).append(share[i, j])
    counts = torch.tensor([len(pairs[d]) for d in sorted(pairs)])
    curve = torch.stack([torch.stack(pairs[d]).mean() for d in sorted(pairs)])
    later = (curve[1:] * counts[1:]).sum() / counts[1:].sum()
    return {"interaction.lag": curve, "interaction.lag_pairs": counts,
            "interaction.lags_from_1": later.reshape(1)}


def response(share, loop_of, config, loops):
    """Late answers to skips of the first L_phys occurrences beyond the depth of training.

    Nothing where these skips reach into the last loop or beyond the end.
    """
    m, trained = config["model"], config["loops"]["forward"]
    p, s, c = (m[f"{part}_layers"] for part in ("prelude", "core", "coda"))
    skips = range(p + s * trained + c, p + s * trained + c + p + s + c)
    last_loop = [j for j, loop in enumerate(loop_of) if loop == loops]
    if skips[-1] >= last_loop[0]:
        return {}
    mean = share[list(skips)].mean(0)
    relative = mean[skips[-1] + 1:] / mean[last_loop].mean()
    return {"response.skips": torch.tensor(skips), "response": relative,
            "response.terminal": relative[-max(c, 1):].mean().reshape(1)}


# ---------------------------------------------------------------- gradients, spectrum, lens


def each_sequence(tokens, counts):
    return [(row[:-1][:n], row[1:][:n]) for row, n in zip(tokens, counts.tolist())]


def prelude_output(inputs, w, m):
    return blocks(w["embed.weight"][inputs[None]], w, "prelude", m)


def gradient_flow(tokens, counts, w, config, loops):
    """Norms of the loss's gradient by state, and by loop of what its pass adds to the weights'.

    Back-propagated through all loops. The state before the first loop counts as such, not as e.
    """
    m, total = config["model"], int(counts.sum())
    grid = time_grid(config, loops)
    copies = [{n: p.detach().clone().requires_grad_() for n, p in w.items()
               if n.startswith(RECURRENT)} for _ in range(loops)]
    loss, states_of_all = 0.0, []
    for inputs, targets in each_sequence(tokens, counts):
        e = prelude_output(inputs, w, m)
        states = [initial_state(e, m).detach().clone().requires_grad_()]
        for copy in copies:
            states.append(one_loop(states, e, w | copy, m, grid))
        logits = head(blocks(states[-1], w, "coda", m), w, m)[0]
        loss = loss + cross_entropy(logits, targets).sum() / total
        states_of_all.append(states)
    flat = [p for copy in copies for p in copy.values()]
    gradients = torch.autograd.grad(loss, flat + sum(states_of_all, []), allow_unused=True,
                                    materialize_grads=True)
    squares = torch.stack([(g.double() ** 2).sum() for g in gradients])
    by_loop = squares[:len(flat)].reshape(loops, -1)
    by_state = squares[len(flat):].reshape(len(states_of_all), -1)
    return {"gradient_flow.state": by_state.sum(0).sqrt(),
            "gradient_flow.weights": by_loop.sum(1).sqrt()}


def jacobian(step, h):
    """Of a map of [1, S, D], as [S, D, S, D]."""
    h = h.detach().clone().requires_grad_()
    y = step(h)[0]
    rows = [torch.autograd.grad(value, h, retain_graph=True)[0][0] for value in y.reshape(-1)]
    return torch.stack(rows).reshape(*y.shape, *y.shape)


def radius(matrix):
    return torch.linalg.eigvals(matrix.double()).abs().max()


def spectral_radius(tokens, counts, w, config, loops):
    """Of each loop as a map of the state before it; e and older states stay as they are.

    `spectral_radius` takes the last selected position's part of its own state alone. A position
    sees none after it, so the eigenvalues of the whole map are those of all positions together,
    and the largest is that of the worst position.
    """
    m, grid = config["model"], time_grid(config, loops)
    last, whole = [], []
    for inputs, _ in each_sequence(tokens, counts):
        e = prelude_output(inputs, w, m).detach()
        states = [initial_state(e, m)]
        for _ in range(loops):
            past = states[:-1]
            full = jacobian(lambda h: one_loop([*past, h], e, w, m, grid), states[-1])
            own = [radius(full[t, :, t]) for t in range(len(inputs))]
            last.append(own[-1])
            whole.append(max(own))
            states.append(one_loop(states, e, w, m, grid).detach())
    return {name: torch.stack(values).reshape(-1, loops).mean(0)
            for name, values in (("spectral_radius", last), ("spectral_radius.whole", whole))}


def logit_lens(tokens, counts, w, config, loops):
    """Loss of every state read out as the last one is, and without the coda."""
    m, total = config["model"], int(counts.sum())
    losses = torch.zeros(2, loops + 1, dtype=torch.float64)
    for inputs, targets in each_sequence(tokens, counts):
        for k, h in enumerate(trace(inputs, w, config, loops).states):
            for way, x in enumerate((blocks(h[None], w, "coda", m), h[None])):
                losses[way, k] += cross_entropy(head(x, w, m)[0], targets).double().sum() / total
    return {"logit_lens": losses[0], "logit_lens.without_coda": losses[1]}


def all_probes(tokens, counts, w, config, loops):
    """Every probe by name, and the occurrences' names and loops."""
    results = gradient_flow(tokens, counts, w, config, loops)
    results |= spectral_radius(tokens, counts, w, config, loops)
    with torch.no_grad():
        passes = Passes(tokens, counts, w, config, loops)
        occurrences = passes.traces[0].occurrences
        loop_of = [o.loop for o in occurrences]
        results |= path(passes) | interaction(tokens, counts, w, config, loops)
        beyond = passes.trained if loops > passes.trained else 0
        results |= lags(results["interaction"], loop_of, beyond)
        results |= response(results["interaction"], loop_of, config, loops)
        results |= logit_lens(tokens, counts, w, config, loops)
    return results, [(o.name, o.loop) for o in occurrences]
