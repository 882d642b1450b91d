"""Holds the reference against transformers and torch.optim.

With an injection that does nothing and no loop norm, a looped model is a Llama (or Qwen3) whose
layers are prelude, core repeated T times, coda.
"""

import torch
from safetensors.torch import load_file
from torch.overrides import TorchFunctionMode
from transformers import LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM

from cases import LOOPS, MODEL
from generate import HERE, PARAMETERS, TRAIN, draw, stream
from reference import LLAMA3, layer_names, run, weight_shapes

TOLERANCE = 1e-10
OPTIMIZER_TOLERANCE = 1e-5  # of a float32 file, and torch divides by the norm + 1e-6 when it clips
PLAIN = {"d_model": 24, "prelude_layers": 1, "core_layers": 2, "coda_layers": 1,
         "loop_norm": False, "injection": "none"}
SCALED = {"rope_base": 500000.0, "rope_scaling": "llama3", "head_dim": 8}
CHECKS = {
    "Llama, no injection": (LlamaForCausalLM, PLAIN, 1),
    "Llama, dense injection [I ; 0], tied head":
        (LlamaForCausalLM, PLAIN | {"injection": "dense", "tied_head": True}, 1),
    "Llama, dense injection [0 ; I] of e = h_0":
        (LlamaForCausalLM, PLAIN | {"injection": "dense", "injection_init": "input"}, 1),
    "Llama, one key/value head, norm_eps 0.05":
        (LlamaForCausalLM, PLAIN | {"kv_heads": 1, "norm_eps": 0.05}, 1),
    "Llama 3.1 RoPE scaling": (LlamaForCausalLM, PLAIN | SCALED, 1),
    "Llama of tied layers, three loops": (LlamaForCausalLM, PLAIN, 3),
    "Qwen3, QK-norm with gains before RoPE":
        (Qwen3ForCausalLM, PLAIN | {"qk_norm": "gain", "qk_norm_order": "before-rope",
                                    "rope_base": 1e6, "norm_eps": 1e-6}, 1),
}


class Float64(TorchFunctionMode):
    """Keeps the peer from dropping to float32, as it does inside norms, softmax and RoPE.

    Those roundings alone come to 1e-5, which would leave no room to see a small error.
    """

    def __torch_function__(self, func, types, args=(), kwargs=None):
        def lift(value):
            return torch.float64 if value is torch.float32 else value
        if func is torch.Tensor.float:
            func = torch.Tensor.double
        return func(*map(lift, args), **{key: lift(v) for key, v in (kwargs or {}).items()})


def peer_config(kind, m, layers):
    rope = {"rope_type": "default", "rope_theta": m["rope_base"]}
    if m["rope_scaling"] == "llama3":
        rope |= {"rope_type": "llama3", "factor": LLAMA3["factor"],
                 "low_freq_factor": LLAMA3["low_freq_factor"],
                 "high_freq_factor": LLAMA3["high_freq_factor"],
                 "original_max_position_embeddings": LLAMA3["original"]}
    make = LlamaConfig if kind is LlamaForCausalLM else Qwen3Config
    return make(vocab_size=m["vocab"], hidden_size=m["d_model"], intermediate_size=m["d_ff"],
                num_hidden_layers=layers, num_attention_heads=m["heads"],
                num_key_value_heads=m["kv_heads"], head_dim=m["head_dim"],
                rms_norm_eps=m["norm_eps"], tie_word_embeddings=m["tied_head"],
                max_position_embeddings=131072, rope_parameters=rope, use_cache=False,
                attn_implementation="eager")


def peer_name(name):
    """Our name of a weight inside a block as theirs."""
    names = {"attn_norm": "input_layernorm", "mlp_norm": "post_attention_layernorm",
             "attn.q_norm": "self_attn.q_norm", "attn.k_norm": "self_attn.k_norm"}
    names |= {f"attn.{p}": f"self_attn.{p}_proj" for p in "qkvo"}
    names |= {f"mlp.{p}": f"mlp.{p}_proj" for p in ("gate", "up", "down")}
    return names[name.removesuffix(".weight")] + ".weight"


def name_pairs(w, stack):
    """(our name, their name); a looped block is paired with each of its copies."""
    pairs = [("embed.weight", "model.embed_tokens.weight"),
             ("final_norm.weight", "model.norm.weight")]
    if "head.weight" in w:
        pairs.append(("head.weight", "lm_head.weight"))
    for i, block in enumerate(stack):
        pairs += [(n, f"model.layers.{i}.{peer_name(n.removeprefix(block + '.'))}")
                  for n in w if n.startswith(block + ".")]
    return pairs


def ours(label, model, loops):
    config = {"model": MODEL | model, "loops": LOOPS | {"forward": loops, "backward": loops}}
    w = {n: draw(label, n, s, embed_std=0.05) for n, s in weight_shapes(config["model"]).items()}
    if "inject.weight" in w:
        d = config["model"]["d_model"]
        parts = [torch.eye(d), torch.zeros(d, d)]
        if config["model"]["injection_init"] == "input":
            parts.reverse()
        w["inject.weight"] = torch.cat(parts, dim=1).double()
    tokens = torch.tensor(stream(label, "tokens").integers(0, config["model"]["vocab"], (2, 65)))
    logits, _, loss = run(tokens, w, config)
    loss.backward()
    return config["model"], w, tokens, logits, loss


def difference(a, b):
    return ((a - b).abs().max() / b.abs().max()).item()


def compare(label, kind, model, loops):
    """The largest relative differences of logits, loss and gradients."""
    m, w, tokens, logits, loss = ours(label, model, loops)
    stack = layer_names("prelude", m) + layer_names("core", m) * loops + layer_names("coda", m)
    with Float64():
        peer = kind(peer_config(kind, m, len(stack))).double()
    theirs, pairs = dict(peer.named_parameters()), name_pairs(w, stack)
    if {n for _, n in pairs} != set(theirs):
        raise ValueError(f"not the same weights: {({n for _, n in pairs}) ^ set(theirs)}")
    with torch.no_grad():
        for name, other in pairs:
            theirs[other].copy_(w[name])
    with Float64():
        peer_logits = peer(tokens[:, :-1]).logits
    cross_entropy = torch.nn.functional.cross_entropy
    peer_loss = cross_entropy(peer_logits.flatten(0, 1), tokens[:, 1:].flatten())
    peer_loss.backward()
    gradients = {}
    for name, other in pairs:
        gradients[name] = gradients.get(name, 0) + theirs[other].grad
    worst = max(difference(w[name].grad, g) for name, g in gradients.items())
    return difference(logits, peer_logits), difference(loss, peer_loss), worst


def optimizer_difference():
    """Replays optimizer.safetensors with torch's AdamW; the largest difference after 100 steps."""
    file = {n: t.double() for n, t in load_file(HERE / "optimizer.safetensors").items()}
    parameters = {n: torch.nn.Parameter(file[f"initial.{n}"]) for n in PARAMETERS}
    adamw = torch.optim.AdamW(
        [{"params": [p], "weight_decay": file[f"weight_decay.{n}"].item()}
         for n, p in parameters.items()], betas=TRAIN["betas"], eps=TRAIN["eps"])
    for step, lr in enumerate(file["learning_rate"].tolist()):
        for n, p in parameters.items():
            p.grad = file[f"gradient.{n}"][step].clone()
        torch.nn.utils.clip_grad_norm_(parameters.values(), TRAIN["clip"])
        for group in adamw.param_groups:
            group["lr"] = lr
        adamw.step()
    results = {"parameter": lambda p: p.detach(), "m": lambda p: adamw.state[p]["exp_avg"],
               "v": lambda p: adamw.state[p]["exp_avg_sq"]}
    return max(difference(get(p), file[f"step_100.{what}.{n}"])
               for what, get in results.items() for n, p in parameters.items())


def cross_check():
    print(f"{'largest relative difference of':45} {'logits':>9} {'loss':>9} {'gradients':>9}")
    results = {label: compare(label, *check) for label, check in CHECKS.items()}
    for label, values in results.items():
        print(f"{label:45} " + " ".join(f"{v:9.1e}" for v in values))
    optimizer = optimizer_difference()
    print(f"{'AdamW, parameters and moments':45} {optimizer:9.1e}")
    passed = (all(v <= TOLERANCE for values in results.values() for v in values)
              and optimizer <= OPTIMIZER_TOLERANCE)
    print("passed" if passed else "FAILED")
    return passed
