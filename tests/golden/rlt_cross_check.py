"""Holds rlt_reference.py against rlt-pytorch, after its blocks have been made ours.

That library leaves out what the paper does not fix, and adds to it. Replaced in each of its models:
the activation of the MLP (GELU by SiLU), the norm after the merge (dropped) and epsilon of the
norms; memory gets the positions it lacks (its own RoPE at our positions). Its biases in the MLP are
set to zero. It rotates neighbouring channels where we rotate the two halves of a head, so that rows
of queries and keys change places. It has no QK-norm and no decoder of zero layers, and truncates
just register with decoder keys and values; the other forms stay unchecked here.
"""

import torch
from RLT import RLT
from torch import nn

import rlt_reference
from cross_check import Float64, difference
from generate import draw_case, masked_targets
from reference import rope_frequencies
from rlt_cases import CASES, FEW, Case

TOLERANCE = 1e-10
TIED = {"tied_head": True, "logit_scale": 18**-0.5}  # what it scales a tied head by
CHECKS = {
    "feedback at every token": CASES["every_token"],
    "merge scale 0.1": CASES["small_scale"],
    "two encoder and three decoder layers": Case(
        "", {"encoder_layers": 2, "decoder_layers": 3, "window": 4}, sequence=13),
    "chunks of 4, the last incomplete": CASES["chunks_partial"],
    "chunks of 3, decoder of two layers": CASES["deep_chunks"],
    "no feedback as merge scale 0": CASES["no_feedback"],
    "no encoder": CASES["no_encoder"],
    "one key/value head": CASES["one_kv_head"],
    "window of 1": CASES["window_1"],
    "window beyond the sequence": CASES["window_all"],
    "tied head": Case("", TIED),
    "norm_eps 0.05": Case("", {"norm_eps": 0.05}),
    # With shared weights its encoder, too, is limited to the decoder's window.
    "shared projections, window beyond": Case("", {"share_blocks": True, "encoder_layers": 2,
                                                   "decoder_layers": 2, "kv_heads": 1,
                                                   "window": 20}),
    "truncation of register, keys and values": CASES["truncated_state_kv"],
    "the same with chunks of 2": Case("", {"feedback_interval": 2}, 4, ("state", "kv")),
    "masked targets": Case("", supervised=FEW),
}


class MemoryRotary:
    """Rotates what one cross-attention asks for: its queries, then all keys of the memory."""

    def __init__(self, rotary):
        self.rotary, self.seen, self.is_query = rotary, 0, True

    def rotate_queries_or_keys(self, x, offset=0):
        start = self.seen if self.is_query else 0
        self.seen += x.shape[-2] if self.is_query else 0
        self.is_query = not self.is_query
        return self.rotary.rotate_queries_or_keys(x, offset=start)


class Gate(nn.Module):
    def forward(self, x):
        x, gate = x.chunk(2, dim=-1)
        return nn.functional.silu(gate) * x


def adapt(peer, m):
    """Replaces what differs by definition."""
    peer.fused_norm = nn.Identity()
    for stack in (peer.encoder, peer.decoder):
        with torch.no_grad():
            frequencies = torch.tensor(rope_frequencies(m), dtype=torch.float64)
            stack.rotary_embed.freqs.copy_(frequencies)  # theirs are float32 numbers
        for _, _, _, cross, _, mlp, _ in stack.layers:
            mlp[1] = Gate()
            nn.init.zeros_(mlp[0].bias)
            nn.init.zeros_(mlp[2].bias)
            if cross is not None:
                cross.rotary_embed = MemoryRotary(stack.rotary_embed)
    for module in peer.modules():
        if isinstance(module, nn.RMSNorm):
            module.eps = m["norm_eps"]


def make_peer(config):
    m = config["model"]
    with Float64():
        peer = RLT(dim=m["d_model"], enc_depth=m["encoder_layers"], dec_depth=m["decoder_layers"],
                   num_tokens=m["vocab"], dim_head=m["head_dim"], heads=m["heads"],
                   kv_heads=m["kv_heads"], cross_attn_kv_heads=m["heads"],
                   ff_expansion_factor=1.5 * (m["d_ff"] + 0.5) / m["d_model"],
                   recurrent_transition_alpha=m["merge_scale"] if m["feedback_interval"] else 0.0,
                   dec_sliding_window_size=m["window"],
                   recurrent_block_size=m["feedback_interval"] or 1,
                   tbptt_step_size=config.get("train", {}).get("bptt_tokens"),
                   shared_weights=m.get("share_blocks", False), tie_embedding=m["tied_head"])
    peer = peer.double()
    adapt(peer, m)
    return peer


def neighbours(x, m):
    """Rows of queries or keys so that a rotation of halves becomes one of neighbours."""
    halves = x.unflatten(0, (-1, 2, m["head_dim"] // 2))
    return halves.transpose(1, 2).reshape(x.shape)


def block_weights(name, layer, w, m):
    """(their parameter, ours as theirs) of one block."""
    attn_norm, attn, cross_norm, cross, mlp_norm, mlp, _ = layer

    def get(part):
        return w[f"{name}.{part}.weight"]

    pairs = [(attn_norm.weight, get("attn_norm")), (mlp_norm.weight, get("mlp_norm")),
             (attn.to_queries.weight, neighbours(get("attn.q"), m)),
             (attn.to_key_values.weight, torch.cat([neighbours(get("attn.k"), m),
                                                    get("attn.v")])),
             (attn.to_out.weight, get("attn.o")),
             (mlp[0].weight, torch.cat([get("mlp.up"), get("mlp.gate")])),
             (mlp[2].weight, get("mlp.down"))]
    if cross is not None:
        pairs += [(cross_norm.weight, get("cross_norm")), (cross.to_out.weight, get("cross.o")),
                  (cross.to_queries.weight, neighbours(get("cross.q"), m))]
    return pairs


def weights(peer, w, m):
    w = w | {alias: w[name] for alias, name in rlt_reference.aliases(m).items()}
    pairs = [(peer.token_emb.weight, w["embed.weight"]),
             (peer.to_logits[0].weight, w["final_norm.weight"])]
    if not m["tied_head"]:
        pairs.append((peer.to_logits[1].weight, w["head.weight"]))
    for part, stack in (("encoder", peer.encoder), ("decoder", peer.decoder)):
        for i, layer in enumerate(stack.layers):
            pairs += block_weights(f"{part}.{i}", layer, w, m)
    if m["decoder_layers"]:
        norm, project = peer.to_encoded_key_values
        pairs += [(norm.weight, w["memory.norm.weight"]),
                  (project.weight, torch.cat([neighbours(w["memory.k.weight"], m),
                                              w["memory.v.weight"]]))]
    if m["feedback_interval"]:
        step = peer.combine_encoded_token_and_state
        pairs += [(step.norm.weight, w["merge.norm.weight"]),
                  (step.to_gates.weight, w["merge.gate.weight"]),
                  (step.to_gates.bias, w["merge.gate.bias"]),
                  (step.to_state.weight, w["merge.state.weight"]),
                  (peer.initial_state, w["merge.initial"])]
    return pairs


def compare(label, case):
    """The largest relative differences of logits, loss and gradients.

    Gradients are compared in our layout: theirs is carried through the map from our weights.
    """
    config, w, tokens = draw_case(label, case)
    m = config["model"]
    inputs, targets = tokens[:, :-1], masked_targets(tokens, case.supervised)
    logits, _ = rlt_reference.forward(inputs, w, config)
    loss, _ = rlt_reference.losses(logits, targets)

    peer = make_peer(config)
    pairs = weights(peer, w, m)
    with torch.no_grad():
        for theirs, ours in pairs:
            theirs.copy_(ours)
    with Float64():
        peer_logits, _ = peer(inputs)
        peer_loss = nn.functional.cross_entropy(peer_logits.flatten(0, 1), targets.flatten(),
                                                ignore_index=-1)
    peer_loss.backward()
    # A shared parameter is in the list once for each of its places.
    unique = {id(theirs): (theirs, ours) for theirs, ours in pairs}.values()
    mapped = sum((ours * theirs.grad).sum() for theirs, ours in unique if theirs.grad is not None)
    names = list(w)
    got = torch.autograd.grad(loss, [w[n] for n in names], allow_unused=True,
                              materialize_grads=True)
    expected = torch.autograd.grad(mapped, [w[n] for n in names], allow_unused=True,
                                   materialize_grads=True)
    largest = max(e.abs().max().item() for e in expected)
    worst = max((g - e).abs().max().item() / max(e.abs().max().item(), 1e-6 * largest)
                for g, e in zip(got, expected))
    return difference(logits, peer_logits), difference(loss, peer_loss), worst


def cross_check():
    print(f"{'largest relative difference of':45} {'logits':>9} {'loss':>9} {'gradients':>9}")
    passed = True
    for label, case in CHECKS.items():
        values = compare(label, case)
        print(f"{label:45} " + " ".join(f"{v:9.1e}" for v in values))
        passed &= all(v <= TOLERANCE for v in values)
    print("passed" if passed else "FAILED")
    return passed
