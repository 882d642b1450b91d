"""Holds rlt_reference.py against other ways to the same numbers.

These are a formulation without caches over whole sequences, finite differences, parameter counts
of the paper, causality, plain float32, and the equalities that the definitions imply.
"""

import math

import torch

import rlt_reference
from generate import draw_case, rlt_results
from reference import blocks, head, layer_names, mlp, place, rms_norm
from rlt_cases import CASES
from rlt_reference import Stream, aliases, losses, merge

EXACT = 1e-12
DIFFERENCED = 1e-8
SINGLE = 1e-5


def difference(a, b):
    scale = b.abs().max().item()
    gap = (a - b).abs().max().item()
    return gap if scale == 0 else gap / scale


# ---------------------------------------------------------------- whole sequences, no caches


def masked_attention(query, key, value, hidden, m):
    """All heads of queries [B, T, H, K] at once, where hidden [T, T] positions are not seen."""
    repeat = query.shape[2] // key.shape[2]
    key, value = (x.repeat_interleave(repeat, dim=2) for x in (key, value))
    scores = torch.einsum("bqhk,bjhk->bhqj", query, key) / math.sqrt(m["head_dim"])
    weights = scores.masked_fill(hidden, -math.inf).softmax(-1)
    return torch.einsum("bhqj,bjhk->bqhk", weights, value).flatten(2)


def decode(z, e, w, m):
    """Decoder states of all positions from all their inputs z and encoder outputs e [B, T, D]."""
    time, eps = z.shape[1], m["norm_eps"]
    future = torch.ones(time, time).triu(1).bool()
    hidden = future | torch.ones(time, time).tril(-m["window"]).bool()

    def split(x, name):
        return (x @ w[f"{name}.weight"].T).reshape(*x.shape[:2], -1, m["head_dim"])

    def placed(x, name):
        return place(split(x, name), w.get(f"{name}_norm.weight"), m)

    for name in layer_names("decoder", m):
        x = rms_norm(z, eps, w[f"{name}.attn_norm.weight"])
        read = masked_attention(placed(x, f"{name}.attn.q"), placed(x, f"{name}.attn.k"),
                                split(x, f"{name}.attn.v"), hidden, m)
        z = z + read @ w[f"{name}.attn.o.weight"].T
        x = rms_norm(z, eps, w[f"{name}.cross_norm.weight"])
        source = rms_norm(e, eps, w["memory.norm.weight"])
        read = masked_attention(placed(x, f"{name}.cross.q"), placed(source, "memory.k"),
                                split(source, "memory.v"), future, m)
        z = z + read @ w[f"{name}.cross.o.weight"].T
        z = z + mlp(rms_norm(z, eps, w[f"{name}.mlp_norm.weight"]), w, f"{name}.mlp")
    return z


def whole_states(inputs, w, m):
    """States [B, T, D]. Each chunk decodes all that came before once more."""
    w = w | {alias: w[name] for alias, name in aliases(m).items()}
    e = blocks(w["embed.weight"][inputs], w, "encoder", m)
    if not m["feedback_interval"]:
        return decode(e, e, w, m)
    z, register = e[:, :0], w["merge.initial"]
    for start in range(0, e.shape[1], m["feedback_interval"]):
        chunk = e[:, start:start + m["feedback_interval"]]
        r = register if register.dim() == 1 else register[:, None]
        z = torch.cat([z, merge(chunk, r.expand_as(chunk), w, m)], dim=1)
        states = decode(z, e[:, :z.shape[1]], w, m)
        register = states[:, -1]
    return states


def every_token_states(inputs, w, m):
    """Feedback at every token without the notion of a chunk."""
    e = blocks(w["embed.weight"][inputs], w, "encoder", m)
    z, state = [], w["merge.initial"].expand_as(e[:, 0])
    for t in range(e.shape[1]):
        z.append(merge(e[:, t], state, w, m))
        state = decode(torch.stack(z, dim=1), e[:, :t + 1], w, m)[:, -1]
    return decode(torch.stack(z, dim=1), e, w, m)


def states_of(inputs, w, m):
    return rlt_reference.forward(inputs, w, {"model": m})[1][0]


def whole_sequence_difference():
    """Of states in all cases, and of the gradients where nothing is cut."""
    worst = 0.0
    for name, case in CASES.items():
        config, w, tokens = draw_case(f"rlt/{name}", case)
        m, (_, results) = config["model"], rlt_results(name, case)
        states = whole_states(tokens[:, :-1], w, m)
        worst = max(worst, difference(states, results["states"][0]))
        if m["feedback_interval"] == 1 and not aliases(m):
            other = every_token_states(tokens[:, :-1], w, m)
            worst = max(worst, difference(other, results["states"][0]))
        if case.bptt_tokens or case.supervised:
            continue
        loss, _ = losses(head(states, w, m), tokens[:, 1:])
        gradients = torch.autograd.grad(loss, list(w.values()), allow_unused=True,
                                        materialize_grads=True)
        worst = max([worst] + [difference(g, results[f"grad.{n}"]) for n, g in zip(w, gradients)])
    return worst


# ---------------------------------------------------------------- finite differences


class Tape(Stream):
    """Notes what truncation makes constant, or (replay) puts the noted values in its place."""

    notes, replay = [], False

    def cut(self, parts):
        super().cut(parts)
        lists = [*self.memory] if "memory" in parts else []
        if "kv" in parts:
            lists += [kept for seen in self.decoder.values() for kept in seen]
        if not Tape.replay:
            Tape.notes.append(([list(kept) for kept in lists],
                               self.register if "state" in parts else None))
            return
        noted, register = Tape.notes[self.position // self.train["bptt_tokens"] - 1]
        for kept, values in zip(lists, noted):
            kept[:] = values
        if register is not None:
            self.register = register


def finite_difference(name, case, step=3e-4):
    """Slopes of the losses along a random direction for each weight, against its gradient.

    Four points, so that the error falls with step^4. What truncation cuts stays at the value it
    had before the weight was moved.
    """
    config, w, tokens = draw_case(f"rlt/{name}", case)
    _, results = rlt_results(name, case)
    targets = results.get("targets", tokens[:, 1:])
    torch.manual_seed(0)
    worst = 0.0
    with torch.no_grad():
        Tape.notes, Tape.replay = [], False
        rlt_reference.forward(tokens[:, :-1], w, config, Tape)
        Tape.replay = True
        for weight, value in w.items():
            direction = torch.randn_like(value) * value.std()
            far, near, back, far_back = (
                torch.stack(losses(rlt_reference.forward(
                    tokens[:, :-1], w | {weight: value + k * step * direction}, config, Tape)[0],
                    targets)) for k in (2, 1, -1, -2))
            slopes = (8 * (near - back) - (far - far_back)) / (12 * step)
            for slope, prefix in zip(slopes, ("", "example_")):
                if (gradient := results.get(f"{prefix}grad.{weight}")) is not None:
                    scale = max((gradient * direction).norm().item(), 1e-4)
                    worst = max(worst, (slope - (gradient * direction).sum()).abs().item() / scale)
    return worst


# ---------------------------------------------------------------- what the definitions imply


def causality():
    """Whether a changed token changes all later states, and leaves the earlier ones bit by bit."""
    for name, case in CASES.items():
        config, w, tokens = draw_case(f"rlt/{name}", case)
        inputs, at = tokens[:, :-1], 5
        before = states_of(inputs, w, config["model"])
        inputs = inputs.clone()
        inputs[:, at] = (inputs[:, at] + 1) % config["model"]["vocab"]
        moved = (states_of(inputs, w, config["model"]) != before).any(-1)
        if moved[:, :at].any() or not moved[:, at:].all():
            return False
    return True


def equalities():
    """Largest difference between forms that must agree, by what they are."""
    config, w, tokens = draw_case("rlt/deep_decoder", CASES["deep_decoder"])
    m, inputs = config["model"], tokens[:, :-1]
    long = inputs.shape[1] + 1
    muted = w | {"merge.state.weight": torch.zeros_like(w["merge.state.weight"])}

    def compare(a, b, wa=w, wb=w):
        return difference(states_of(inputs, wa, m | a), states_of(inputs, wb, m | b))

    return {
        "merge scale 0 is no feedback": compare({"merge_scale": 0.0}, {"feedback_interval": 0}),
        "a merge of zeros is no feedback": compare({}, {"feedback_interval": 0}, wa=muted),
        "one chunk is one chunk": compare({"feedback_interval": long},
                                          {"feedback_interval": long + 7}),
        "a window of all is any longer one": compare({"window": long - 1}, {"window": long + 9}),
    }


def differences_that_must_show():
    """Smallest difference between forms that must not agree."""
    config, w, tokens = draw_case("rlt/deep_decoder", CASES["deep_decoder"])
    m, inputs = config["model"], tokens[:, :-1]
    base = states_of(inputs, w, m)
    changes = [{"window": m["window"] + 1}, {"window": m["window"] - 1}, {"feedback_interval": 2},
               {"feedback_interval": 0}, {"merge_scale": 0.9}, {"norm_eps": 2e-5},
               {"qk_norm": "plain"}, {"rope_base": 5000.0}]
    return min(difference(states_of(inputs, w, m | change), base) for change in changes)


def truncation_is_full_beyond_the_end():
    case = CASES["every_token"]
    config, w, tokens = draw_case("rlt/every_token", case)
    config["train"] = {"bptt_tokens": case.sequence, "bptt_detach": ["state", "kv", "memory"]}
    loss, _ = losses(rlt_reference.forward(tokens[:, :-1], w, config)[0], tokens[:, 1:])
    gradients = torch.autograd.grad(loss, list(w.values()))
    _, results = rlt_results("every_token", case)
    return max(difference(g, results[f"grad.{n}"]) for n, g in zip(w, gradients))


# Layers of encoder and decoder, and what the paper's sizes come to.
PAPER = {(4, 4): 28_726_912, (5, 3): 28_201_984, (6, 2): 27_677_056, (7, 1): 27_152_128,
         (8, 0): 26_102_272}
PAPER_SIZES = {"d_model": 512, "heads": 4, "kv_heads": 4, "head_dim": 128, "d_ff": 1365,
               "qk_norm": "gain", "tied_head": True, "vocab": 277, "feedback_interval": 1}


def count(m):
    return sum(math.prod(shape) for shape in rlt_reference.weight_shapes(m).values())


def paper_counts():
    fits = []
    for (encoder, decoder), expected in PAPER.items():
        m = PAPER_SIZES | {"encoder_layers": encoder, "decoder_layers": decoder}
        fits += [count(m | {"feedback_interval": b}) == expected for b in (1, 4)]
        fits.append(count(m | {"feedback_interval": 0}) == expected - 787_968)
    return all(fits)


def single_precision(name, case):
    """The largest relative difference of one file's results when computed in float32."""
    _, expected = rlt_results(name, case)
    _, got = rlt_results(name, case, torch.float32)
    return max((difference(got[n].double(), e), n) for n, e in expected.items()
               if e.dtype == torch.float64)


def check_all():
    rows = [("whole sequences without caches, states and gradients", whole_sequence_difference(),
             EXACT)]
    rows += [(text, value, EXACT) for text, value in equalities().items()]
    rows.append(("truncation beyond the end is none", truncation_is_full_beyond_the_end(), EXACT))
    rows.append(("finite differences, constants of truncation kept",
                 max(finite_difference(*item) for item in CASES.items()), DIFFERENCED))
    rows.append(("float32", max(single_precision(*item)[0] for item in CASES.items()), SINGLE))
    passed = True
    for text, value, limit in rows:
        print(f"{text:56} {value:9.1e}")
        passed &= value <= limit
    shown = differences_that_must_show()
    print(f"{'smallest effect of a changed setting':56} {shown:9.1e}")
    facts = {"causal in every case": causality(), "the paper's parameter counts": paper_counts()}
    for text, fact in facts.items():
        print(f"{text:56} {fact!s:>9}")
    passed &= shown > 10 * SINGLE and all(facts.values())
    print("passed" if passed else "FAILED")
    return passed
