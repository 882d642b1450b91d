"""What the golden files of the conditioned recurrence cover; see cases.py.

Conditioning is a history of states, a timestep, and both with forms of injection.
"""

from dataclasses import dataclass, field

import cases
from cases import loops

# The recurrence alone, without anything around it; cases of other make-up say so.
MODEL = cases.MODEL | {"prelude_layers": 0, "injection": "none", "loop_norm": False,
                       "timestep_grid": "rescaled"}
LOOPS = {"forward": 6, "backward": 6}
WRAPPED = {"prelude_layers": 1, "coda_layers": 1, "loop_norm": True}
NORMED = {"prelude_layers": 1, "loop_norm": True}
TWO = {"core_layers": 2}


@dataclass
class Case(cases.Case):
    loops: dict = field(default_factory=lambda: LOOPS)
    # Loops of this pass where they are not those of training.
    pass_loops: int = 0
    # Conditioning at the start of training, where it does nothing; other weights as in `identity`.
    identity: bool = False
    batch: int = 2
    sequence: int = 7
    embed_std: float = 0.8

    def config(self):
        return {"model": MODEL | self.model, "loops": cases.LOOPS | self.loops}


def history(form, window):
    return {"history": form, "history_window": window}


def timestep(form, grid="rescaled"):
    return {"timestep": form, "timestep_grid": grid}


def injection(form):
    return {"injection": form}


def histories():
    around = {"scalar": {}, "channel": NORMED, "dense": {"prelude_layers": 1}}
    for form, model in around.items():
        for window in (1, 2, 4):
            yield f"history_{form}_{window}", Case(
                f"{form} history of {window}, alone", model | history(form, window))
        yield f"history_{form}_truncated", Case(
            f"{form} history of 2, last 3 of 6 loops back-propagated",
            model | history(form, 2), loops(6, 3))
    yield "history_one_loop_back", Case(
        "scalar history of 4, last 1 of 6 loops back-propagated: all it sees are constants",
        history("scalar", 4), loops(6, 1))
    yield "history_window_beyond", Case(
        "channel history of 4 in 4 loops: the last two lags have no use and no gradient",
        NORMED | history("channel", 4), loops(4, 4))
    yield "history_two_loops", Case("scalar history in 2 loops, which is too few for any",
                                    history("scalar", 1), loops(2, 2))


def timesteps():
    around = {"loop-gate": {"prelude_layers": 1, "coda_layers": 1}, "branch-gate": TWO,
              "adaln": TWO | {"loop_norm": True}}
    for form, model in around.items():
        name = "timestep_" + form.replace("-", "_")
        yield name, Case(f"{form}, alone", model | timestep(form), loops(4, 4))
        yield f"{name}_more", Case(
            f"{form}, 5 loops on a model of 3: time still ends at 1; all are back-propagated",
            model | timestep(form), loops(3, 5), pass_loops=5)
        yield f"{name}_fewer", Case(
            f"{form}, 2 loops on a model of 4 with time rescaled",
            model | timestep(form), loops(4, 4), pass_loops=2)
        yield f"{name}_prefix", Case(
            f"{form}, 3 loops on a model of 5 on the grid of training",
            model | timestep(form, "prefix"), loops(5, 5), pass_loops=3)
        yield f"{name}_truncated", Case(
            f"{form}, last 2 of 4 loops back-propagated", model | timestep(form), loops(4, 2))


COMBINATIONS = {
    "channel_and_history": Case("channel injection, channel history of 2, prelude and coda",
                                WRAPPED | injection("channel") | history("channel", 2)),
    "channel_and_loop_gate": Case("channel injection with loop gates, no norm at a loop's end",
                                  injection("channel") | timestep("loop-gate"), loops(4, 4)),
    "history_and_loop_gate": Case("channel history of 2 with loop gates",
                                  NORMED | history("channel", 2) | timestep("loop-gate")),
    "channel_history_loop_gate": Case(
        "channel injection, channel history of 1, loop gates",
        NORMED | injection("channel") | history("channel", 1) | timestep("loop-gate")),
    "channel_and_branch_gate": Case(
        "channel injection with branch gates on two core layers",
        TWO | injection("channel") | timestep("branch-gate"), loops(4, 4)),
    "history_and_branch_gate": Case(
        "channel history of 1 with branch gates, QK-norm with gains, RoPE first",
        NORMED | history("channel", 1) | timestep("branch-gate") | {"qk_norm": "gain"},
        loops(5, 5)),
    "dense_and_history": Case("dense injection, dense history of 1",
                              NORMED | injection("dense") | history("dense", 1), loops(5, 5)),
    "dense_history_loop_gate": Case(
        "dense history of 2 with loop gates, no norm at a loop's end",
        {"prelude_layers": 1} | history("dense", 2) | timestep("loop-gate"), loops(5, 5)),
    "scalar_history_adaln": Case(
        "scalar injection, scalar history of 4, AdaLN, QK-norm with gains, RoPE last, "
        "prelude and coda",
        WRAPPED | injection("scalar") | history("scalar", 4) | timestep("adaln")
        | {"qk_norm": "gain", "qk_norm_order": "before-rope"}),
    "residual_history_branch_gate_truncated": Case(
        "residual-channel injection, dense history of 2, branch gates on two core layers, "
        "last 3 of 5 loops back-propagated",
        NORMED | TWO | injection("residual-channel") | history("dense", 2)
        | timestep("branch-gate"), loops(5, 3)),
    "dense_history_adaln_truncated": Case(
        "dense injection, scalar history of 2, AdaLN, last 1 of 4 loops back-propagated",
        NORMED | injection("dense") | history("scalar", 2) | timestep("adaln"), loops(4, 1)),
    "history_adaln_truncated": Case(
        "no injection, channel history of 4, AdaLN, QK-norm without gains, last 3 of 6 loops "
        "back-propagated: prelude and embedding get no gradient",
        NORMED | history("channel", 4) | timestep("adaln") | {"qk_norm": "plain"}, loops(6, 3)),
    "zero_state_history_loop_gate": Case(
        "the state starts at zero, dense injection, dense history of 2, loop gates",
        WRAPPED | injection("dense") | history("dense", 2) | timestep("loop-gate")
        | {"state_init": "zero"}, loops(5, 5)),
    "residual_history_loop_gate_more": Case(
        "residual-channel injection, channel history of 1, loop gates, 5 loops on a model of 3, "
        "the last 2 back-propagated",
        NORMED | injection("residual-channel") | history("channel", 1) | timestep("loop-gate"),
        loops(3, 2), pass_loops=5),
    "scalar_history_branch_gate_prefix": Case(
        "scalar injection, dense history of 2, branch gates on the grid of training, 4 loops on a "
        "model of 6, the last 2 back-propagated",
        WRAPPED | injection("scalar") | history("dense", 2) | timestep("branch-gate", "prefix"),
        loops(6, 2), pass_loops=4),
    "dense_history_adaln_no_norm": Case(
        "dense injection, channel history of 2, AdaLN on two core layers, QK-norm with gains, "
        "no norm at a loop's end",
        TWO | injection("dense") | history("channel", 2) | timestep("adaln")
        | {"qk_norm": "gain"}, loops(3, 3)),
}

# How often a case was drawn anew because some gradient, a sum of terms of both signs, came out so
# near zero that float32 leaves few digits of it.
REDRAWN = {
    "history_scalar_1": 1, "history_scalar_2": 1, "history_scalar_4": 3, "history_channel_4": 3,
    "timestep_loop_gate": 1, "timestep_loop_gate_prefix": 2, "history_and_loop_gate": 1,
    "residual_history_branch_gate_truncated": 2, "dense_history_adaln_truncated": 2,
    "dense_history_adaln_no_norm": 2,
}

# Conditioning that does nothing, on two core layers in four loops.
IDENTITIES = {
    "base": {}, "scalar": injection("scalar"), "channel": injection("channel"),
    "residual_channel": injection("residual-channel"), "dense": injection("dense"),
    "history_scalar": history("scalar", 2), "history_channel": history("channel", 2),
    "history_dense": history("dense", 2), "loop_gate": timestep("loop-gate"),
    "branch_gate": timestep("branch-gate"), "adaln": timestep("adaln"),
    "all": injection("dense") | history("dense", 2) | timestep("adaln"),
}


def identities():
    for name, model in IDENTITIES.items():
        text = "BaseLoop, which every identity_… equals" if name == "base" else "does nothing yet"
        yield f"identity_{name}", Case(text, TWO | model, loops(4, 4), identity=True)


CASES = dict(histories()) | dict(timesteps()) | COMBINATIONS | dict(identities())
