"""What the golden files of the probes cover; see cases.py."""

from dataclasses import dataclass

import conditioning_cases
from cases import loops
from conditioning_cases import history, injection, timestep


@dataclass
class Case(conditioning_cases.Case):
    batch: int = 3
    sequence: int = 8
    # Selected positions of each sequence, its first ones; as at a text's end, the last has fewer.
    counts: tuple = (8, 8, 5)
    # Blocks whose branches give nothing.
    silent: tuple = ()


CASES = {
    "base_loop": Case("the loop alone: two core layers, 6 loops on a model of 2",
                      {"core_layers": 2}, loops(2, 2), pass_loops=6),
    "sandwich": Case(
        "prelude and coda, dense injection, norm at a loop's end, QK-norm with gains, two core "
        "layers, 6 loops on a model of 2",
        {"prelude_layers": 1, "core_layers": 2, "coda_layers": 1, "loop_norm": True,
         "qk_norm": "gain"} | injection("dense"), loops(2, 2), pass_loops=6),
    "conditioned": Case(
        "channel injection, channel history of 2, AdaLN, two coda layers, two core layers, norm at "
        "a loop's end, 7 loops on a model of 2",
        {"core_layers": 2, "coda_layers": 2, "loop_norm": True} | injection("channel")
        | history("channel", 2) | timestep("adaln"), loops(2, 2), pass_loops=7),
    "trained_depth": Case(
        "scalar injection, loop gates, prelude, three core layers, as many loops as in training, "
        "last 1 of 3 back-propagated in training: probes go through all",
        {"prelude_layers": 1, "core_layers": 3} | injection("scalar") | timestep("loop-gate"),
        loops(3, 1), pass_loops=3),
    "silent_block": Case(
        "core.1 adds nothing, so that no update of it can change and its angle is that of a vector "
        "with itself; residual-channel injection, coda, norm at a loop's end, 2 loops on a model "
        "of 3",
        {"core_layers": 2, "coda_layers": 1, "loop_norm": True} | injection("residual-channel"),
        loops(3, 3), pass_loops=2, silent=("core.1",)),
}
