"""The model in plain formulas: weight shapes, forward pass and loss.

Nothing here is meant to be fast. It shares no code with src/ and uses no ready-made layer, so that
an error would have to be made twice to go unnoticed. `m` is a config's [model], `w` the weights by
name, [B, T, H, K] the axes batch, time, heads and head width.
"""

import math

import torch

LLAMA3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original": 8192}


def block_shapes(name, m):
    d, f, k = m["d_model"], m["d_ff"], m["head_dim"]
    q_rows, kv_rows = m["heads"] * k, m["kv_heads"] * k
    shapes = {
        "attn_norm.weight": [d], "attn.q.weight": [q_rows, d], "attn.k.weight": [kv_rows, d],
        "attn.v.weight": [kv_rows, d], "attn.o.weight": [d, q_rows], "mlp_norm.weight": [d],
        "mlp.gate.weight": [f, d], "mlp.up.weight": [f, d], "mlp.down.weight": [d, f]}
    if m["qk_norm"] == "gain":
        shapes |= {"attn.q_norm.weight": [k], "attn.k_norm.weight": [k]}
    return {f"{name}.{part}": shape for part, shape in shapes.items()}


def layer_names(part, m):
    return [f"{part}.{i}" for i in range(m[f"{part}_layers"])]


def injection_shapes(m):
    d = m["d_model"]
    return {"none": {}, "scalar": {"inject.a": [1]}, "channel": {"inject.a": [d], "inject.b": [d]},
            "residual-channel": {"inject.a": [d], "inject.b": [d]},
            "dense": {"inject.weight": [d, 2 * d]}}[m["injection"]]


def history_shapes(m):
    d = m["d_model"]
    shape = {"none": None, "scalar": [1], "channel": [d], "dense": [d, d]}[m["history"]]
    return {f"history.{j}": shape for j in range(1, m["history_window"] + 1)} if shape else {}


def timestep_shapes(m):
    d, layers = m["d_model"], m["core_layers"]
    return {"none": {}, "loop-gate": {"timestep.loop_gate": [8]},
            "branch-gate": {"timestep.branch_gate": [layers, 2, 8]},
            "adaln": {"timestep.adaln": [layers, 2, 2 * d, 8]}}[m["timestep"]]


def weight_shapes(m):
    d, v = m["d_model"], m["vocab"]
    shapes = {"embed.weight": [v, d], "final_norm.weight": [d]}
    shapes |= injection_shapes(m) | history_shapes(m) | timestep_shapes(m)
    if not m["tied_head"]:
        shapes["head.weight"] = [v, d]
    if m["loop_norm"]:
        shapes["loop_norm.weight"] = [d]
    for part in ("prelude", "core", "coda"):
        for name in layer_names(part, m):
            shapes |= block_shapes(name, m)
    return shapes


def rms_norm(x, eps, gain=None):
    y = x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps)
    return y if gain is None else y * gain


def rope_frequencies(m):
    k = m["head_dim"]
    plain = [m["rope_base"] ** (-2 * i / k) for i in range(k // 2)]
    return plain if m["rope_scaling"] == "none" else [llama3_frequency(f) for f in plain]


def llama3_frequency(frequency):
    """Short waves stay, waves beyond the original context slow down, those between are blended."""
    turns = LLAMA3["original"] * frequency / (2 * math.pi)
    low, high = LLAMA3["low_freq_factor"], LLAMA3["high_freq_factor"]
    keep = min(max((turns - low) / (high - low), 0.0), 1.0)
    return keep * frequency + (1 - keep) * frequency / LLAMA3["factor"]


def rope(x, m):
    """Rotates (x_i, x_{i + K/2}) of each head [B, T, H, K] by position times frequency i."""
    positions = torch.arange(x.shape[1], dtype=torch.float64)
    angle = positions[:, None] * torch.tensor(rope_frequencies(m), dtype=torch.float64)
    cos, sin = (a.to(x.dtype)[:, None, :] for a in (angle.cos(), angle.sin()))
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


def place(x, gain, m):
    """RoPE and QK-norm of queries or keys, in the configured order."""
    if m["qk_norm"] == "none":
        return rope(x, m)
    if m["qk_norm_order"] == "after-rope":
        return rms_norm(rope(x, m), m["norm_eps"], gain)
    return rope(rms_norm(x, m["norm_eps"], gain), m)


def attention(x, w, name, m):
    batch, time, _ = x.shape
    k = m["head_dim"]
    heads = {p: (x @ w[f"{name}.{p}.weight"].T).reshape(batch, time, -1, k) for p in "qkv"}
    query = place(heads["q"], w.get(f"{name}.q_norm.weight"), m)
    key = place(heads["k"], w.get(f"{name}.k_norm.weight"), m)
    future = torch.ones(time, time).triu(1).bool()
    outputs = []
    for h in range(m["heads"]):
        g = h // (m["heads"] // m["kv_heads"])
        scores = query[:, :, h] @ key[:, :, g].transpose(1, 2) / math.sqrt(k)
        weights = scores.masked_fill(future, -math.inf).exp()
        outputs.append(weights / weights.sum(-1, keepdim=True) @ heads["v"][:, :, g])
    return torch.cat(outputs, dim=-1) @ w[f"{name}.o.weight"].T


def mlp(x, w, name):
    gate = x @ w[f"{name}.gate.weight"].T
    up = x @ w[f"{name}.up.weight"].T
    return (gate / (1 + torch.exp(-gate)) * up) @ w[f"{name}.down.weight"].T


def block(x, w, name, m, conditions=((0.0, 1.0), (0.0, 1.0))):
    """Two branches x + g Branch((1 + s) Norm(x)); `conditions` has (s, g) of attention and MLP."""
    eps, ((s, g), (s_mlp, g_mlp)) = m["norm_eps"], conditions
    y = (1 + s) * rms_norm(x, eps, w[f"{name}.attn_norm.weight"])
    x = x + g * attention(y, w, f"{name}.attn", m)
    y = (1 + s_mlp) * rms_norm(x, eps, w[f"{name}.mlp_norm.weight"])
    return x + g_mlp * mlp(y, w, f"{name}.mlp")


def blocks(x, w, part, m):
    for name in layer_names(part, m):
        x = block(x, w, name, m)
    return x


def initial_state(e, m):
    return {"prelude": lambda: e, "zero": lambda: torch.zeros_like(e)}[m["state_init"]]()


def inject(h, e, w, m):
    forms = {
        "none": lambda: h,
        "scalar": lambda: h + w["inject.a"] * e,
        "channel": lambda: w["inject.a"] * h + w["inject.b"] * e,
        "residual-channel": lambda: (1 + w["inject.a"]) * h + w["inject.b"] * e,
        "dense": lambda: torch.cat([h, e], dim=-1) @ w["inject.weight"].T}
    return forms[m["injection"]]()


def history_terms(states, w, m):
    """B_j (h_{l-j} - h_l) of every lag j. h_0, the state before the first loop, takes no part."""
    loop = len(states) - 1
    for j in range(1, min(m["history_window"], loop - 1) + 1):
        past, matrix = states[loop - j] - states[loop], w[f"history.{j}"]
        yield past @ matrix.T if m["history"] == "dense" else matrix * past


def time_features(loop, grid):
    """What gates and scales are linear in: eight functions of the time loop / grid and its step."""
    t, dt = loop / grid, 1 / grid
    return torch.tensor([t, dt, t * t, dt * dt, t * dt, math.sin(math.pi * t),
                         math.cos(math.pi * t) - 1, math.sin(2 * math.pi * t)],
                        dtype=torch.float64)


def branch_conditions(layer, psi, w, m):
    """(scale, gate) of attention and of the MLP of one core layer."""
    if m["timestep"] == "branch-gate":
        return [(0.0, 1 + w["timestep.branch_gate"][layer, b] @ psi) for b in (0, 1)]
    if m["timestep"] == "adaln":
        halves = [(w["timestep.adaln"][layer, b] @ psi).chunk(2) for b in (0, 1)]
        return [(scale, 1 + gate) for scale, gate in halves]
    return (0.0, 1.0), (0.0, 1.0)


def end_of_loop(h, y, psi, w, m):
    """The next state from h and what the core made of it: loop gate, then norm."""
    if m["timestep"] == "loop-gate":
        y = h + (1 + w["timestep.loop_gate"] @ psi) * (y - h)
    return rms_norm(y, m["norm_eps"], w["loop_norm.weight"]) if m["loop_norm"] else y


def one_loop(states, e, w, m, grid):
    """The state after h_0 … h_l, which are `states`. Time starts at 0 and has steps of 1 / grid."""
    h, psi = states[-1], time_features(len(states) - 1, grid).to(e.dtype)
    y = sum(history_terms(states, w, m), inject(h, e, w, m))
    for layer, name in enumerate(layer_names("core", m)):
        y = block(y, w, name, m, branch_conditions(layer, psi, w, m))
    return end_of_loop(h, y, psi, w, m)


def time_grid(config, loops):
    """Steps of 1 / grid reach time 1 after all loops of this pass, or after those of training."""
    trained = config["loops"]["forward"]
    if config["model"].get("timestep_grid", "rescaled") == "rescaled":
        return loops
    if loops > trained:
        raise ValueError(f"{loops} loops on a grid of {trained}")
    return trained


def unroll(e, w, config, loops=None, prefix=None):
    """States h_0 … h_T. Those that loops before the last `backward` made are constants.

    The later loops still reach the prelude through e, which is never cut off, and each other
    through the history. `loops` is T where a pass has other loops than training, `prefix` the
    first states where they are given.
    """
    m, backward = config["model"], config["loops"]["backward"]
    loops = loops or config["loops"]["forward"]
    states, wanted = prefix or [initial_state(e, m)], torch.is_grad_enabled()
    for loop in range(len(states) - 1, loops):
        with torch.set_grad_enabled(wanted and (backward == 0 or loop >= loops - backward)):
            states.append(one_loop(states, e, w, m, time_grid(config, loops)))
    return states


def head(h, w, m):
    matrix = w["embed.weight" if m["tied_head"] else "head.weight"]
    logits = m["logit_scale"] * (rms_norm(h, m["norm_eps"], w["final_norm.weight"]) @ matrix.T)
    cap = m["logit_softcap"]
    return cap * torch.tanh(logits / cap) if cap else logits


def looped_forward(inputs, w, config, loops=None, prefix=None):
    m = config["model"]
    e = blocks(w["embed.weight"][inputs], w, "prelude", m)
    states = unroll(e, w, config, loops, prefix)
    return head(blocks(states[-1], w, "coda", m), w, m), torch.stack(states)


def run(tokens, w, config, loops=None, prefix=None):
    """Logits, states, and the mean cross-entropy of every next token."""
    logits, states = looped_forward(tokens[:, :-1], w, config, loops, prefix)
    chosen = logits.gather(-1, tokens[:, 1:, None]).squeeze(-1)
    return logits, states, (logits.exp().sum(-1).log() - chosen).mean()
