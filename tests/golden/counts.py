"""Parameter counts of the models of "What Makes Recurrence Effective in Looped Language Models?".

Closed forms from the sizes of arXiv 2609.36636, held against the paper's own figures and against
the shapes of reference.py. `counts.csv` is the table.
"""

import csv
import io
import math

from conditioning_cases import MODEL
from reference import weight_shapes

LLAMA = {"d_model": 1536, "d_ff": 5376, "heads": 12, "kv_heads": 3, "head_dim": 128,
         "vocab": 128256, "tied_head": False, "qk_norm": "none"}
QWEN = {"d_model": 1024, "d_ff": 3072, "heads": 16, "kv_heads": 8, "head_dim": 128,
        "vocab": 151936, "tied_head": True, "qk_norm": "gain"}
FAMILIES = {"llama": LLAMA, "qwen": QWEN}

# The paper's parameters: all digits of the two references, else millions with two decimals.
REFERENCES = {("llama", "20x1"): 1_007_482_368, ("qwen", "28x1"): 596_049_920}
MILLIONS = {("llama", 2): "455.35", ("llama", 4): "516.70", ("llama", 5): "547.37",
            ("llama", 10): "700.74", ("qwen", 2): "187.05", ("qwen", 4): "218.51",
            ("qwen", 7): "265.70", ("qwen", 14): "375.82"}

BASE = {"llama": ["2x10", "4x5", "5x4", "10x2"], "qwen": ["2x14", "4x7", "7x4", "14x2"]}
CORE = {"llama": ["0+1x19+1", "1+1x19+0", "0+2x9+2", "1+2x9+1", "2+2x9+0", "0+3x6+2", "1+3x6+1",
                  "2+3x6+0"] + [f"{p}+5x3+{5 - p}" for p in range(6)],
        "qwen": ["0+2x13+2", "1+2x13+1", "2+2x13+0"]}
TIMED = {"llama": ["4x5"], "qwen": BASE["qwen"]}
NONE = {"injection": "none", "history": "none", "history_window": 0, "timestep": "none"}
# Combinations whose forms and windows the paper's text gives, all on Qwen 4x7.
COMBINED = [{"history": "channel", "history_window": 2, "timestep": "loop-gate"},
            {"injection": "channel", "timestep": "loop-gate"},
            {"history": "channel", "history_window": 1, "timestep": "branch-gate"},
            {"injection": "channel", "timestep": "branch-gate"},
            {"injection": "channel", "history": "channel", "history_window": 2},
            {"injection": "dense", "history": "dense", "history_window": 1},
            {"history": "dense", "history_window": 2, "timestep": "loop-gate"}]


def layers(layout):
    """Prelude, core and coda layers, and loops, of p+sxK+c or sxK."""
    p, core, c = layout.split("+") if "+" in layout else ("0", layout, "0")
    s, loops = core.split("x")
    return int(p), int(s), int(c), int(loops)


def models():
    """Family, layout and conditioning of each row."""
    for family in FAMILIES:
        references = [layout for f, layout in REFERENCES if f == family]
        for layout in references + BASE[family] + CORE[family]:
            yield family, layout, NONE
        for layout in BASE[family]:
            for form in ("scalar", "channel", "residual-channel", "dense"):
                yield family, layout, NONE | {"injection": form}
        for layout in TIMED[family]:
            for form in ("loop-gate", "branch-gate", "adaln"):
                yield family, layout, NONE | {"timestep": form}
    for form in ("scalar", "channel", "dense"):
        for window in (1, 2, 4):
            yield "qwen", "4x7", NONE | {"history": form, "history_window": window}
    for conditioning in COMBINED:
        yield "qwen", "4x7", NONE | conditioning


def conditioning_count(d, core_layers, c):
    injection = {"none": 0, "scalar": 1, "channel": 2 * d, "residual-channel": 2 * d,
                 "dense": 2 * d * d}[c["injection"]]
    lag = {"none": 0, "scalar": 1, "channel": d, "dense": d * d}[c["history"]]
    timestep = {"none": 0, "loop-gate": 8, "branch-gate": 16 * core_layers,
                "adaln": 32 * d * core_layers}[c["timestep"]]
    return injection + c["history_window"] * lag + timestep


def count(family, layout, conditioning):
    """Parameters by what they are for: embedding, once and recurrent."""
    m, (p, s, c, _) = FAMILIES[family], layers(layout)
    d, queries, keys = m["d_model"], m["heads"] * m["head_dim"], m["kv_heads"] * m["head_dim"]
    qk_gains = 2 * m["head_dim"] if m["qk_norm"] == "gain" else 0
    layer = 2 * d * queries + 2 * d * keys + 3 * d * m["d_ff"] + 2 * d + qk_gains
    return {"embedding": m["vocab"] * d * (1 if m["tied_head"] else 2),
            "once": (p + c) * layer + d,
            "recurrent": s * layer + conditioning_count(d, s, conditioning)}


def from_shapes(family, layout, conditioning):
    p, s, c, _ = layers(layout)
    parts = {"prelude_layers": p, "core_layers": s, "coda_layers": c}
    counts = dict.fromkeys(("embedding", "once", "recurrent"), 0)
    recurrent = ("core.", "inject.", "history.", "timestep.")
    for name, shape in weight_shapes(MODEL | FAMILIES[family] | parts | conditioning).items():
        group = ("recurrent" if name.startswith(recurrent) else
                 "embedding" if name in ("embed.weight", "head.weight") else "once")
        counts[group] += math.prod(shape)
    return counts


def published(family, layout, conditioning):
    """The paper's figure as it stands there; it gives none with conditioning."""
    if conditioning != NONE:
        return ""
    exact = REFERENCES.get((family, layout))
    return str(exact) if exact else MILLIONS[family, sum(layers(layout)[:3])] + "M"


def rows():
    for model in models():
        family, layout, conditioning = model
        counts, figure = count(*model), published(*model)
        total = sum(counts.values())
        if counts != from_shapes(*model):
            raise ValueError(f"{model}: {counts} are not {from_shapes(*model)}")
        if figure not in ("", str(total), f"{total / 1e6:.2f}M"):
            raise ValueError(f"{model}: {total} is not {figure}")
        p, s, c, loops = layers(layout)
        yield ({"family": family, "layout": layout, "prelude_layers": p, "core_layers": s,
                "coda_layers": c, "loops": loops} | conditioning | {"total": total} | counts
               | {"published": figure})


HEADER = """\
# Parameters of the models of arXiv 2609.36636, written by tests/golden/generate.py.
# Sizes, layouts and the column published: its section on training.
# Forms of conditioning: its sections on state and timestep conditioning.
# embedding: embed.weight and an untied head.weight; recurrent: core and conditioning;
# once: all else. No model has a norm at a loop's end.
"""


def table():
    text, lines = io.StringIO(), list(rows())
    for family, sizes in FAMILIES.items():
        text.write(f"# {family}: " + ", ".join(f"{k} = {str(v).lower()}" for k, v in sizes.items()))
        text.write("\n")
    writer = csv.DictWriter(text, list(lines[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return (HEADER + text.getvalue()).encode()
