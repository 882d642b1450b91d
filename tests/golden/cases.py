"""What the golden files cover. Each case differs from MODEL and LOOPS in the keys it names."""

from dataclasses import dataclass, field

# Axes that could be confused differ in size, and no width here fills whole vector registers, so
# that a wrong transpose or a mishandled tail cannot pass. heads * head_dim differs from d_model.
MODEL = {
    "kind": "looped", "d_model": 14, "heads": 4, "kv_heads": 2, "head_dim": 6, "d_ff": 18,
    "qk_norm": "none", "qk_norm_order": "after-rope", "rope_base": 10000.0, "rope_scaling": "none",
    "norm_eps": 1e-5, "tied_head": False, "logit_scale": 1.0, "logit_softcap": 0.0, "vocab": 31,
    "prelude_layers": 1, "core_layers": 1, "coda_layers": 0, "state_init": "prelude",
    "injection": "dense", "injection_init": "state", "loop_norm": True, "history": "none",
    "history_window": 0, "timestep": "none",
}
LOOPS = {"forward": 3, "backward": 3, "sampler": "fixed"}


@dataclass
class Case:
    text: str
    model: dict = field(default_factory=dict)
    loops: dict = field(default_factory=dict)
    batch: int = 3
    sequence: int = 11
    # Small embeddings make norm_eps visible in the first norm; large ones make the softcap bend.
    embed_std: float = 0.05

    def config(self):
        return {"model": MODEL | self.model, "loops": LOOPS | self.loops}


def loops(forward, backward):
    return {"forward": forward, "backward": backward}


CASES = {
    "plain": Case(
        "plain transformer: one loop, no injection, no loop norm, all query heads their own k/v",
        {"d_model": 24, "kv_heads": 4, "d_ff": 40, "vocab": 61, "prelude_layers": 0,
         "core_layers": 2, "injection": "none", "loop_norm": False}, loops(1, 1)),
    "dense_full": Case("dense injection, back-propagation through all loops",
                       {"coda_layers": 1}, loops(4, 4)),
    "dense_truncated": Case(
        "dense injection, last 2 of 4 loops back-propagated, at a second set of sizes",
        {"d_model": 24, "head_dim": 8, "d_ff": 40, "vocab": 61, "coda_layers": 1}, loops(4, 2)),
    "dense_backward_more": Case("more backward than forward loops means full back-propagation",
                                {}, loops(3, 7)),
    "dense_deep": Case("two layers in each part, last 1 of 3 loops back-propagated",
                       {"prelude_layers": 2, "core_layers": 2, "coda_layers": 2}, loops(3, 1),
                       batch=2, sequence=7),
    "dense_no_loop_norm": Case("dense injection without the norm at the end of a loop",
                               {"loop_norm": False}, loops(3, 2)),
    "dense_input_init": Case("injection_init is about initial weights alone; backward 0 means all",
                             {"injection_init": "input"}, loops(2, 0), batch=2, sequence=5),
    "scalar": Case("scalar injection h + a e", {"injection": "scalar", "coda_layers": 1}),
    "scalar_truncated": Case("scalar injection, last 1 of 3 loops back-propagated",
                             {"injection": "scalar"}, loops(3, 1)),
    "channel": Case("channel injection a h + b e", {"injection": "channel"}),
    "residual_channel": Case("residual-channel injection (1 + a) h + b e",
                             {"injection": "residual-channel"}),
    "no_injection": Case("no injection, the state starts at the prelude's output",
                         {"injection": "none", "coda_layers": 1}),
    "no_injection_truncated": Case(
        "no injection, last 2 of 4 loops back-propagated: prelude and embedding get no gradient",
        {"injection": "none", "coda_layers": 1}, loops(4, 2)),
    "no_injection_truncated_tied": Case(
        "as no_injection_truncated, but the tied embedding has its gradient as the head",
        {"injection": "none", "tied_head": True}, loops(3, 2)),
    "zero_state": Case("the state starts at zero, dense injection", {"state_init": "zero"}),
    "zero_state_truncated": Case("the state starts at zero, channel injection, truncated",
                                 {"state_init": "zero", "injection": "channel"}, loops(4, 3)),
    "base_loop": Case("no prelude and no coda: e is the token embedding",
                      {"prelude_layers": 0, "core_layers": 2}, loops(3, 2), embed_std=0.8),
    "no_core": Case("a core of no layers: a loop is injection and norm", {"core_layers": 0}),
    "qk_gain_after": Case("QK-norm with gains, RoPE first", {"qk_norm": "gain"}),
    "qk_gain_before": Case("QK-norm with gains, RoPE last",
                           {"qk_norm": "gain", "qk_norm_order": "before-rope"}),
    "qk_plain_after": Case("QK-norm without gains, RoPE first", {"qk_norm": "plain"}),
    "qk_plain_before": Case("QK-norm without gains, RoPE last",
                            {"qk_norm": "plain", "qk_norm_order": "before-rope"}),
    "large_eps": Case("norm_eps 0.05, which every norm feels, QK-norm included",
                      {"qk_norm": "gain", "norm_eps": 0.05}),
    "tied_softcap": Case("tied head, logits scaled by 2, then capped at 15",
                         {"tied_head": True, "logit_scale": 2.0, "logit_softcap": 15.0},
                         embed_std=1.2),
    "untied_softcap": Case("untied head, logits scaled by 0.5, then capped at 3",
                           {"logit_scale": 0.5, "logit_softcap": 3.0}, batch=2, sequence=7),
    "one_kv_head": Case("all query heads share one key/value head",
                        {"heads": 3, "kv_heads": 1, "head_dim": 8}),
    "rope_500000": Case("rope_base 500000 and norm_eps 1e-6",
                        {"rope_base": 500000.0, "norm_eps": 1e-6}, embed_std=0.01),
    "rope_llama3": Case(
        "Llama 3.1 RoPE scaling with kept, blended and slowed frequencies, over 64 positions",
        {"rope_base": 500000.0, "rope_scaling": "llama3", "head_dim": 8}, loops(2, 2),
        batch=2, sequence=64),
}
