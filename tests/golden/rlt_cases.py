"""What the golden files of the recurrent looped transformer cover; see cases.py."""

from dataclasses import dataclass, field

# As in cases.py, sizes that could be confused differ. The merge scale of 1 lets no error of the
# feedback path shrink below what a test allows; 0.1 has a case of its own.
MODEL = {
    "kind": "rlt", "d_model": 18, "heads": 3, "kv_heads": 3, "head_dim": 6, "d_ff": 25,
    "qk_norm": "none", "qk_norm_order": "after-rope", "rope_base": 10000.0, "rope_scaling": "none",
    "norm_eps": 1e-5, "tied_head": False, "logit_scale": 1.0, "logit_softcap": 0.0, "vocab": 37,
    "encoder_layers": 1, "decoder_layers": 1, "feedback_interval": 1, "window": 3,
    "merge_scale": 1.0,
}
WIDE = {"d_model": 24, "heads": 4, "kv_heads": 2, "d_ff": 43, "window": 4}


@dataclass
class Case:
    text: str
    model: dict = field(default_factory=dict)
    bptt_tokens: int = 0
    bptt_detach: tuple = ()
    # For each example the positions with a target, where the others have none; empty: all have one.
    supervised: tuple = ()
    batch: int = 2
    sequence: int = 11
    embed_std: float = 0.2

    def config(self):
        config = {"model": MODEL | self.model}
        if self.bptt_tokens:
            config["train"] = {"bptt_tokens": self.bptt_tokens,
                               "bptt_detach": list(self.bptt_detach)}
        return config


CHUNKS = {"feedback_interval": 4}
NO_DECODER = {"decoder_layers": 0, "encoder_layers": 2}
FEW = ((10,), (0, 2, 3, 6, 7, 9))

CASES = {
    "every_token": Case("feedback at every token"),
    "deep": Case("two encoder and two decoder layers, two query heads to a key/value head, QK-norm "
                 "with gains, merge scale 0.1, tied head, logits times 2",
                 WIDE | {"encoder_layers": 2, "decoder_layers": 2, "qk_norm": "gain",
                         "merge_scale": 0.1, "tied_head": True, "logit_scale": 2.0},
                 sequence=13, embed_std=0.8),
    "deep_chunks": Case("three encoder and two decoder layers, feedback every 3 of 13 tokens",
                        {"encoder_layers": 3, "decoder_layers": 2, "feedback_interval": 3},
                        sequence=13),
    "deep_decoder": Case("one encoder layer and three decoder layers", {"decoder_layers": 3}),
    "chunks": Case("feedback every 4 tokens, three whole chunks", CHUNKS, sequence=12),
    "chunks_partial": Case("feedback every 4 tokens, the last chunk has 3", CHUNKS),
    "chunks_small_scale": Case("feedback every 4 tokens, merge scale 0.1",
                               CHUNKS | {"merge_scale": 0.1}),
    "chunk_beyond_end": Case("a chunk longer than the sequence: the register stays the initial one",
                             {"feedback_interval": 16}),
    "no_feedback": Case("no feedback and so no merge weights", {"feedback_interval": 0}),
    "no_decoder": Case("no decoder layers: no memory, the merged input is the state", NO_DECODER),
    "no_decoder_chunks": Case("no decoder layers, feedback every 4 tokens", NO_DECODER | CHUNKS),
    "no_decoder_no_feedback": Case("neither decoder nor feedback: a plain transformer",
                                   NO_DECODER | {"feedback_interval": 0}),
    "no_encoder": Case("no encoder layers: memory and merge take the token embedding",
                       {"encoder_layers": 0, "decoder_layers": 2}, embed_std=0.8),
    "small_scale": Case("feedback at every token, merge scale 0.1", {"merge_scale": 0.1}),
    "qk_plain_after": Case("QK-norm without gains, RoPE first", {"qk_norm": "plain"}),
    "qk_plain_before": Case("QK-norm without gains, RoPE last",
                            {"qk_norm": "plain", "qk_norm_order": "before-rope"}),
    "qk_gain_after": Case("QK-norm with gains, RoPE first", {"qk_norm": "gain"}),
    "qk_gain_before": Case("QK-norm with gains, RoPE last",
                           {"qk_norm": "gain", "qk_norm_order": "before-rope"}),
    "large_eps": Case("norm_eps 0.05, which every norm feels, QK-norm included",
                      {"qk_norm": "gain", "norm_eps": 0.05}, embed_std=0.5),
    "one_kv_head": Case("one key/value head in self-attention, while memory has all heads",
                        {"kv_heads": 1}),
    "rope_llama3": Case("Llama 3.1 RoPE scaling, rope_base 500000",
                        {"d_model": 24, "head_dim": 8, "rope_base": 500000.0,
                         "rope_scaling": "llama3"}, sequence=13),
    "window_1": Case("a window of the current position alone", {"window": 1}),
    "window_all": Case("a window longer than the sequence", {"window": 20}),
    "tied": Case("tied head, logits times 2, then capped at 15",
                 {"tied_head": True, "logit_scale": 2.0, "logit_softcap": 15.0}, embed_std=1.2),
    "shared": Case("encoder and decoder share projections block by block, norms are their own",
                   {"share_blocks": True, "encoder_layers": 2, "decoder_layers": 2,
                    "qk_norm": "gain", "kv_heads": 1}),
    "truncated_state_kv": Case("truncation every 4 tokens of register and decoder keys and values",
                               {}, 4, ("state", "kv")),
    "truncated_all": Case("truncation every 4 tokens of register, keys and values, and memory",
                          {}, 4, ("state", "kv", "memory")),
    "truncated_state": Case("truncation every 4 tokens of the register alone", {}, 4, ("state",)),
    "truncated_kv": Case("truncation every 4 tokens of decoder keys and values alone",
                         {}, 4, ("kv",)),
    "truncated_chunks": Case(
        "truncation every 4 tokens of register, keys and values; feedback every 3",
        {"feedback_interval": 3, "decoder_layers": 2}, 4, ("state", "kv"), sequence=13),
    "truncated_chunks_all": Case(
        "truncation every 6 tokens of register, keys and values, and memory; feedback every 2",
        {"feedback_interval": 2, "window": 5}, 6, ("state", "kv", "memory"), sequence=13),
    "masked": Case("some targets alone count, 1 in one example and 6 in the other",
                   supervised=FEW),
    "masked_chunks": Case("as masked, with feedback every 4 tokens and QK-norm with gains",
                          CHUNKS | {"qk_norm": "gain"}, supervised=FEW),
    "masked_truncated": Case("as masked, with truncation every 4 tokens", {}, 4, ("state", "kv"),
                             supervised=FEW),
}
