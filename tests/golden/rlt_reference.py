"""The recurrent looped transformer, one token at a time: weight shapes, forward pass and losses.

As reference.py, it is written from the definitions to be read, not to be fast: tokens, heads and
keys are Python loops, only the batch is an axis. A key or value of one token is [B, G, K], a list
of them is what was seen so far, oldest first. Positions count from 0.
"""

import math

import torch

from reference import block_shapes, head, layer_names, mlp, rms_norm, rope_frequencies


def decoder_shapes(name, m):
    d = m["d_model"]
    shapes = block_shapes(name, m) | {f"{name}.cross_norm.weight": [d],
                                      f"{name}.cross.q.weight": [d, d],
                                      f"{name}.cross.o.weight": [d, d]}
    if m["qk_norm"] == "gain":
        shapes[f"{name}.cross.q_norm.weight"] = [m["head_dim"]]
    return shapes


def memory_shapes(m):
    d = m["d_model"]
    shapes = {"memory.norm.weight": [d], "memory.k.weight": [d, d], "memory.v.weight": [d, d]}
    if m["qk_norm"] == "gain":
        shapes["memory.k_norm.weight"] = [m["head_dim"]]
    return shapes


def merge_shapes(m):
    d = m["d_model"]
    return {"merge.norm.weight": [d], "merge.gate.weight": [d, 2 * d], "merge.gate.bias": [d],
            "merge.state.weight": [d, d], "merge.initial": [d]}


def aliases(m):
    """Alias to stored name of the weights that the decoder shares with the encoder.

    Projections are shared block by block. Norms, gains of QK-norm included, and all of
    cross-attention stay the decoder's own.
    """
    if not m.get("share_blocks"):
        return {}
    if m["encoder_layers"] != m["decoder_layers"]:
        raise ValueError("sharing needs as many encoder as decoder layers")
    parts = [f"attn.{p}.weight" for p in "qkvo"] + [f"mlp.{p}.weight"
                                                   for p in ("gate", "up", "down")]
    return {f"decoder.{i}.{p}": f"encoder.{i}.{p}"
            for i in range(m["decoder_layers"]) for p in parts}


def weight_shapes(m):
    """Every weight that is stored: shared ones once."""
    if m["heads"] * m["head_dim"] != m["d_model"]:
        raise ValueError("heads * head_dim is not d_model")
    d, v = m["d_model"], m["vocab"]
    shapes = {"embed.weight": [v, d], "final_norm.weight": [d]}
    if not m["tied_head"]:
        shapes["head.weight"] = [v, d]
    for name in layer_names("encoder", m):
        shapes |= block_shapes(name, m)
    for name in layer_names("decoder", m):
        shapes |= decoder_shapes(name, m)
    if m["decoder_layers"]:
        shapes |= memory_shapes(m)
    if m["feedback_interval"]:
        shapes |= merge_shapes(m)
    return {name: shape for name, shape in shapes.items() if name not in aliases(m)}


def rotate(x, position, m):
    """Turns (x_i, x_{i + K/2}) of one token's heads [B, H, K] by position times frequency i."""
    angle = position * torch.tensor(rope_frequencies(m), dtype=x.dtype)
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * angle.cos() - second * angle.sin(),
                      second * angle.cos() + first * angle.sin()], dim=-1)


def heads_at(x, position, weight, gain, m):
    """Queries or keys [B, H, K] of one token's x [B, D], with RoPE and QK-norm in their order."""
    y = (x @ weight.T).unflatten(-1, (-1, m["head_dim"]))
    if m["qk_norm"] == "none":
        return rotate(y, position, m)
    if m["qk_norm_order"] == "after-rope":
        return rms_norm(rotate(y, position, m), m["norm_eps"], gain)
    return rotate(rms_norm(y, m["norm_eps"], gain), position, m)


def values_of(x, weight, m):
    return (x @ weight.T).unflatten(-1, (-1, m["head_dim"]))


def attend(query, keys, values):
    """What the heads of one token's query [B, H, K] read from lists of keys and values."""
    query_heads, key_heads, width = query.shape[1], keys[0].shape[1], query.shape[2]
    outputs = []
    for h in range(query_heads):
        g = h // (query_heads // key_heads)
        strengths = [((query[:, h] * key[:, g]).sum(-1) / math.sqrt(width)).exp() for key in keys]
        total = sum(strengths)
        outputs.append(sum((s / total)[:, None] * value[:, g]
                           for s, value in zip(strengths, values)))
    return torch.cat(outputs, dim=-1)


def block(x, position, seen, w, name, m, window=None, memory=None):
    """One token through one block. `seen` is the block's own (keys, values), which grow by one."""
    keys, values = seen
    normed = rms_norm(x, m["norm_eps"], w[f"{name}.attn_norm.weight"])
    keys.append(heads_at(normed, position, w[f"{name}.attn.k.weight"],
                         w.get(f"{name}.attn.k_norm.weight"), m))
    values.append(values_of(normed, w[f"{name}.attn.v.weight"], m))
    query = heads_at(normed, position, w[f"{name}.attn.q.weight"],
                     w.get(f"{name}.attn.q_norm.weight"), m)
    first = 0 if window is None else max(0, len(keys) - window)
    x = x + attend(query, keys[first:], values[first:]) @ w[f"{name}.attn.o.weight"].T
    if memory is not None:
        normed = rms_norm(x, m["norm_eps"], w[f"{name}.cross_norm.weight"])
        query = heads_at(normed, position, w[f"{name}.cross.q.weight"],
                         w.get(f"{name}.cross.q_norm.weight"), m)
        x = x + attend(query, *memory) @ w[f"{name}.cross.o.weight"].T
    return x + mlp(rms_norm(x, m["norm_eps"], w[f"{name}.mlp_norm.weight"]), w, f"{name}.mlp")


def merge(e, register, w, m):
    """The decoder's input: the encoder's output and what the register lets through its gate."""
    r = rms_norm(register, m["norm_eps"], w["merge.norm.weight"])
    z = torch.cat([e, r], dim=-1) @ w["merge.gate.weight"].T + w["merge.gate.bias"]
    gate = 1 / (1 + torch.exp(-z))
    return e + m["merge_scale"] * gate * (r @ w["merge.state.weight"].T)


class Stream:
    """All that is carried from token to token; `advance` takes the next one."""

    def __init__(self, w, config):
        self.m, self.train = config["model"], config.get("train", {"bptt_tokens": 0})
        self.w = w | {alias: w[name] for alias, name in aliases(self.m).items()}
        self.position = 0
        self.encoder = {name: ([], []) for name in layer_names("encoder", self.m)}
        self.decoder = {name: ([], []) for name in layer_names("decoder", self.m)}
        self.memory = ([], [])
        self.register = w.get("merge.initial")

    def advance(self, token):
        """The state s_t [B, D] after one more token [B]."""
        m, w = self.m, self.w
        window = self.train["bptt_tokens"]
        if window and self.position and self.position % window == 0:
            self.cut(self.train["bptt_detach"])
        x = w["embed.weight"][token]
        for name, seen in self.encoder.items():
            x = block(x, self.position, seen, w, name, m)
        if self.decoder:
            self.remember(x)
        if m["feedback_interval"]:
            x = merge(x, self.register.expand_as(x), w, m)
        for name, seen in self.decoder.items():
            x = block(x, self.position, seen, w, name, m, m["window"], self.memory)
        self.position += 1
        if m["feedback_interval"] and self.position % m["feedback_interval"] == 0:
            self.register = x
        return x

    def remember(self, e):
        m, w = self.m, self.w
        normed = rms_norm(e, m["norm_eps"], w["memory.norm.weight"])
        keys, values = self.memory
        keys.append(heads_at(normed, self.position, w["memory.k.weight"],
                             w.get("memory.k_norm.weight"), m))
        values.append(values_of(normed, w["memory.v.weight"], m))

    def cut(self, parts):
        """Makes the named parts of what earlier truncation windows left constants."""
        lists = list(self.memory) if "memory" in parts else []
        if "kv" in parts:
            lists += [kept for seen in self.decoder.values() for kept in seen]
        for kept in lists:
            kept[:] = [x.detach() for x in kept]
        if "state" in parts:
            self.register = self.register.detach()


def forward(inputs, w, config, stream_type=Stream):
    """Logits [B, T, V] and states [1, B, T, D]."""
    stream = stream_type(w, config)
    states = torch.stack([stream.advance(inputs[:, t]) for t in range(inputs.shape[1])], dim=1)
    return head(states, w, config["model"]), states[None]


def losses(logits, targets):
    """Cross-entropy in nats of the targets that are not -1: over all of them, and by examples.

    The second is the mean over an example's targets, then over examples.
    """
    supervised = targets >= 0
    chosen = logits.gather(-1, targets.clamp(min=0)[..., None]).squeeze(-1)
    nats = (logits.exp().sum(-1).log() - chosen) * supervised
    by_example = nats.sum(1) / supervised.sum(1)
    return nats.sum() / supervised.sum(), by_example.mean()
