"""The table of everything public: a call that works, and what each argument must be.

What an argument must be says which values are wrong for it; `test_arguments` calls with each.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

import committal as cm
from committal.formula.symbol import symbol
from committal.formula.tree import name as leaf

HUGE = 10**400
NUL = "x\0y"

# What a wrong value is, by what is expected.

NO_NUMBER = [None, "1", NUL, True, object(), math.nan, math.inf, -math.inf, HUGE, 1e51, [1.0], 1j,
             np.ma.masked]  # fmt: skip
NO_INTEGER = [None, "1", NUL, True, object(), math.nan, 0.5, [1], -1, -HUGE, {}, np.ma.masked]
NO_RNG = [*NO_INTEGER[1:7], [[1, 2], [3]], [0.5], []]
NO_TEXT = [None, 3, True, object(), ["value"], b"value", {}, NUL]
NO_ARRAY = ["x", NUL, object(), [object()], [None], {}, 1j, [math.nan], [math.inf], [True], [HUGE],
            [1e51], [[1.0, 2.0], [3.0]], ["1"], [[[]], 1],
            np.ma.array([0.2, 0.3, 0.5], mask=[0, 1, 0])]  # fmt: skip
NO_OBJECT = [object(), 3, math.nan, "x", NUL, [], {}]

BANDIT = cm.Bandit([1.0, 0.7, 0.0])
TWO = cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(-1), cm.Natural(0.1), -1.0, steps=3)
BASE = cm.Experiment(
    BANDIT, cm.Softmax(), cm.Natural(0.1), steps=8,
    record=cm.Record("value", "policy", "regret", every=2),
)  # fmt: skip
GAP = BASE.replace(baseline=cm.Gap())
MAZE = cm.gridworld("S.A", goals={"A": 1.0}, gamma=0.5)
WALK = cm.Experiment(MAZE, cm.Softmax(), cm.Natural(0.1), estimator=cm.ExactQ(), steps=2)
DATA = cm.run(BASE, runs=5, rng=0)
NOTHING = cm.run(BASE, runs=0, rng=0)
STUDY = cm.Study(BASE, {"update.step_size": [0.05, 0.15]}, runs=4, rng=0)
SWEEP = STUDY.run(progress=False)
NO_DATA = [*NO_OBJECT, None, True, xr.Dataset, xr.Dataset(), xr.Dataset({"value": ("run", [1.0])}),
           DATA["value"].values]  # fmt: skip

WRONG: dict[str, list[Any]] = {
    "number": NO_NUMBER,
    "positive": [*NO_NUMBER, 0, -1],
    "non-negative": [*NO_NUMBER, -1],
    "negative": [*NO_NUMBER, 0, 1],
    "unit": [*NO_NUMBER, -0.1, 1.1],
    "inside": [*NO_NUMBER, 0, 1, -0.1, 1.1],
    "rate": [*NO_NUMBER, -1, cm.Values([0.1, -1.0])],
    "discount": [*NO_NUMBER, -0.1, 1.0],
    "integer": [*NO_INTEGER, HUGE],
    "count": [*NO_INTEGER, HUGE, 0],
    "seed": NO_INTEGER[1:],
    "arm": [*NO_INTEGER, HUGE, 3],
    "text": NO_TEXT,
    "flag": [None, 0, 1, "x", object(), [], math.nan],
    "data": NO_DATA,
    "data of runs": [*NO_DATA, NOTHING],
    "experiment": [*NO_OBJECT, None, cm.Experiment, MAZE],
    "bandit experiment": [*NO_OBJECT, None, cm.Experiment, MAZE, WALK],
    "MDP": [*NO_OBJECT, None, BANDIT, cm.TabularMDP],
    "array": [*NO_ARRAY, None],
    "theta": [*NO_ARRAY, [1.0, 2.0], 1.0, []],
    "policy": [*NO_ARRAY, [0.5, 0.5], [0.5, 0.6, 0.7], [-0.5, 0.75, 0.75], 1.0, []],
    "table": [*NO_ARRAY, [[0.5] * 4] * 2, [[0.5] * 4] * 3, 1.0, []],
    "vector": [*NO_ARRAY, 1.0, None],
    "law": [*NO_ARRAY, 1.0, None, [0.5, 0.6], [-0.5, 1.5], []],
    "times": [*NO_ARRAY, [1.0, 0.5], [-1.0], [], 1.0, [[1.0]]],
    "pair": [*NO_ARRAY, [1.0], [1.0, 2.0, 3.0], 1.0, None],
    "counts": [*NO_ARRAY, None, -1, [0.5], [-1]],
    "object": [*NO_OBJECT, None],
    "path": [None, 3, object(), math.nan, [], NUL, "/no/such/place/x.nc"],
    "names": [3, object(), [3], ["a"], "abc"],
}


class Row(NamedTuple):
    """A call that works, and what each of its arguments must be."""

    call: Callable[..., Any]
    good: dict[str, Any]
    expected: dict[str, Any]


ROWS: dict[str, Row] = {}


def row(name: str, call: Any = None, /, **arguments: tuple[Any, Any]) -> None:
    """Add a row: each argument with a right value and what it must be.

    What it must be is a key of `WRONG`, "optional" and a key (then None is right), or a list of
    wrong values. `...` as the right value leaves the argument out.
    """
    if call is None:
        call = cm
        for part in name.split("."):
            call = getattr(call, part)
    expected = {}
    for argument, (_, kind) in arguments.items():
        optional = isinstance(kind, str) and kind.startswith("optional ")
        wrong = WRONG[kind.removeprefix("optional ")] if isinstance(kind, str) else kind
        expected[argument] = [x for x in wrong if not (optional and x is None)]
    good = {argument: value for argument, (value, _) in arguments.items() if value is not ...}
    ROWS[name] = Row(call, good, expected)


LEVEL = (0.9, "inside")
NAME = ("value", "text")
TIME = (8, [*WRONG["integer"][1:], 7])
METHODS = (..., [*NO_TEXT, "wilsn"])

# Analysis.
row("analysis.committal_rate", data=(DATA, "data of runs"), level=LEVEL,
    window=(..., [*NO_ARRAY, [1.0], [3, 2], [-1, 2], [3, 3.5], 1.0]),
    against=("time", NO_TEXT))  # fmt: skip
row("analysis.regret_exponent", data=(DATA, "data of runs"), level=LEVEL,
    window=(..., [*NO_ARRAY, [1.0], [3, 2], [-1, 2], [3, 3.5], 1.0]))  # fmt: skip
row("compare", data=(SWEEP, "data"), axis=("step_size", [*NO_TEXT, "run", "arm", "x"]),
    quantity=("failure", [*NO_TEXT, "x"]), time=TIME, level=LEVEL, below=(0.5, NO_NUMBER),
    reference=(..., [object(), [], {}, NUL, math.nan, 0.3, HUGE, b"x"]))  # fmt: skip
row("failure_rate", data=(DATA, [*NO_DATA, SWEEP]), below=(0.5, NO_NUMBER), time=TIME, level=LEVEL,
    method=METHODS)  # fmt: skip
row("failure_rates", data=(SWEEP, "data"), below=(0.5, NO_NUMBER), time=TIME, level=LEVEL,
    method=(..., [*NO_TEXT[1:], "wilsn"]))  # fmt: skip
row("analysis.mean_curves", data=(DATA, "data of runs"), name=NAME, level=LEVEL,
    method=("bootstrap", NO_TEXT), resamples=(5, "count"), rng=(0, [*NO_INTEGER]))  # fmt: skip
row("analysis.mean_interval", mean=(1.0, ["x", NUL, object(), {}, 1j, [True], None, HUGE]),
    sem=([0.1, 0.2], ["x", object(), {}, 1j, [True], None]), level=LEVEL,
    count=([3, 4], ["x", object(), {}, None, [1, 2, 3]]))  # fmt: skip
row("analysis.policy_histogram", data=(DATA, "data of runs"), bins=(4, "count"), time=TIME,
    level=LEVEL)  # fmt: skip
row("analysis.proportion_interval", failures=([1, 2], [*WRONG["counts"], 9, [1, 2, 3]]),
    runs=([5, 5], "counts"), level=LEVEL, method=METHODS)  # fmt: skip
row("analysis.wilson_interval", failures=(1, [*WRONG["integer"], 9]), runs=(5, "integer"),
    level=LEVEL)  # fmt: skip
row("analysis.quantiles", data=(DATA, "data of runs"), name=NAME, time=TIME, level=LEVEL,
    probabilities=([0.5], [*NO_ARRAY, [0.0], [1.0], [], 0.5, None]))  # fmt: skip
row("analysis.survival", data=(DATA, "data of runs"), above=(0.5, "number"), name=NAME,
    level=LEVEL)  # fmt: skip
row("analysis.time_to", data=(DATA, "data of runs"), above=(0.5, "number"), name=NAME, level=LEVEL,
    probability=(0.5, "inside"))  # fmt: skip
row("FailureRate.of", failures=(1, [*WRONG["integer"], 9]), runs=(5, "integer"),
    below=(0.5, "number"), time=(3, "integer"), level=LEVEL, method=METHODS)  # fmt: skip

# Exact answers.
AT = {"theta": (..., WRONG["theta"]), "policy": ([0.2, 0.3, 0.5], WRONG["policy"]),
      "t": (1, "integer")}  # fmt: skip
ONE = (BASE, "bandit experiment")
row("exact.baseline_quadratic", experiment=ONE, **AT)
row("exact.gradient_moments", experiment=ONE, visible=(True, "flag"), **AT)
row("exact.gradient_variance", experiment=ONE, **AT)
row("exact.one_step_law", experiment=ONE, **AT)
row("exact.flow", experiment=ONE, **AT)
row("exact.corner", experiment=ONE, arm=(1, "arm"))
row("exact.critical_step_size", experiment=(TWO, "bandit experiment"))
row("exact.stationary", experiment=ONE, t=(0, "integer"))
row("exact.log_variance_ratio", first=ONE, second=ONE, t=(0, "integer"),
    policy=([0.2, 0.3, 0.5], WRONG["policy"]))  # fmt: skip
row("exact.committal_map", experiment=(TWO, [*WRONG["bandit experiment"], BASE.replace(
    update=cm.Vanilla(0.1))]), tolerance=(0.01, [*NO_NUMBER[1:], 0, 1]),
    most_nodes=(500, [*NO_INTEGER, 0]))  # fmt: skip
row("exact.committal_probability", experiment=(TWO, "bandit experiment"), starts=([0.0], NO_ARRAY),
    arm=(1, [*WRONG["arm"][1:], 2]), tolerance=(0.01, [*NO_NUMBER[1:], 0, 1]),
    return_error=(True, "flag"))  # fmt: skip
row("exact.expected_path", experiment=(BASE, "object"), times=([0, 2], [*WRONG["times"], [0.5]]))
row("exact.gradient_flow", experiment=(BASE, "object"), times=([0, 2], [*WRONG["times"], None]))
row("exact.law_after", experiment=(TWO, "bandit experiment"), steps=(2, WRONG["integer"][1:]),
    most_atoms=(100, "count"), merge=(0.0, [*NO_NUMBER, -1, 0.001]))  # fmt: skip
POLICY3 = ([0.2, 0.3, 0.5], WRONG["policy"])
row("exact.minimum_variance_baseline", means=([1, 0.7, 0], "vector"), policy=POLICY3,
    metric=("natural", NO_TEXT), lam=(0.5, NO_NUMBER[1:]))  # fmt: skip
row("exact.value_identity", means=([1, 0.7, 0], "vector"), policy=POLICY3)
row("exact.simplex_grid", n=(3, "count"), arms=(3, [*WRONG["count"], 1]), margin=(0.1, "unit"))
row("exact.two_arm_variance", p=([0.5, 0.1], [*NO_ARRAY, None, 0, 1, [0.1, 2], [0.1] * 3]),
    b=([0.5, 0.6], "array"), means=((1.0, 0.0), "pair"), natural=(False, "flag"))  # fmt: skip
row("evaluate", mdp=(MAZE, "MDP"), policy=(..., "table"), method=("iterative", NO_TEXT),
    tolerance=(0.1, "positive"), threads=(1, WRONG["count"][1:]), isa=(..., NO_TEXT))  # fmt: skip
row("optimal", mdp=(MAZE, "MDP"))
MAP = cm.exact.committal_map(TWO)
row("exact.CommittalMap.probabilities", MAP.probabilities, starts=(..., NO_ARRAY))
row("exact.CommittalMap.error", MAP.error, starts=(..., NO_ARRAY))
row("exact.CommittalMap.on_simplex", MAP.on_simplex, n=(3, "count"))
LAW = cm.exact.one_step_law(BASE)
row("exact.OneStepLaw.mean", LAW.mean, space=("policy", NO_TEXT))
row("exact.OneStepLaw.covariance", LAW.covariance, space=("policy", NO_TEXT))
row("exact.OneStepLaw.second_moment", LAW.second_moment, space=("policy", NO_TEXT))
row("exact.HorizonLaw.expectation", cm.exact.law_after(TWO, 1).expectation,
    values=([1.0, 2.0], ["x", object(), {}, 1j, None, [True, True], 1.0, [1.0], []]))  # fmt: skip
row("exact.BaselineQuadratic", cm.exact.baseline_quadratic(BASE).__call__, b=([0.5], "array"))

# Theory.
row("theory.std_factor", p=([0.5, 0.1], [*NO_ARRAY, None, 0, 1, [0.1, 2]]),
    samples=(8, [*WRONG["count"], 1]), ddof=(0, [*WRONG["integer"], 2]),
    eps=(0.0, "non-negative"))  # fmt: skip
row("theory.pass_at_k_factor", p=([0.5, 0.1], [*NO_ARRAY, None, -1, [0.1, 2]]), k=(2, "count"))
row("theory.pass_at_k_advantages", samples=(8, "count"), k=(2, [*WRONG["count"], 9]))
KL_ROUNDS = {"reference": (0.1, "inside"), "strength": (2.0, "positive"), "scaled": (True, "flag"),
             "eps": (1e-5, "non-negative")}  # fmt: skip
row("theory.kl_recursion", steps=(3, "integer"), **KL_ROUNDS)
row("theory.kl_fixed_points", **{**KL_ROUNDS, "eps": (1e-5, [*WRONG["positive"], 1e-13])})
row("theory.regularised_policy", means=([1, 0.7, 0], "vector"), strength=(0.2, "positive"),
    reference=([0.2, 0.3, 0.5], [*WRONG["policy"], [0.0, 0.5, 0.5]]),
    divergence=("reverse", NO_TEXT))  # fmt: skip
row("theory.off_policy_limit", means=([1, 0.7, 0], "vector"), behaviour=([0.2, 0.3, 0.5], "policy"),
    value=(0.3, NO_NUMBER), rule=("tapered", NO_TEXT))  # fmt: skip
row("theory.baseline_range", baseline=(cm.Value(), "object"), r=([1.0, 0.0], "vector"),
    rewards=((0.0, 1.0), [*WRONG["pair"][:-1], [1.0, 0.0]]))  # fmt: skip
row("theory.check_schedule", x=(0.1, "non-negative"), steps=(5, "count"))
row("theory.claims", ids=([2], ["x", NUL, 3, object(), [None], [99], [0.5], {}, [[2]], [HUGE]]),
    rng=(0, NO_INTEGER))  # fmt: skip
row("theory.committal_rate", experiment=ONE, arm=(1, "arm"), steps=(4, [*WRONG["count"], 1]),
    theta=(..., [*WRONG["theta"], [[0.0] * 3]]))  # fmt: skip
row("theory.same_action_forever", experiment=ONE, arm=(1, "arm"), steps=(4, WRONG["integer"][1:]),
    theta=(..., [*WRONG["theta"], [[0.0] * 3]]))  # fmt: skip
row("theory.gap_bound", experiment=(GAP, [*WRONG["bandit experiment"], BASE]), t=(9, "integer"))
row("theory.off_policy_bound", experiment=(BASE.replace(behaviour=cm.UniformMixture(0.5)),
    [*WRONG["bandit experiment"], BASE]), t=(9, "integer"))  # fmt: skip
row("theory.proposition_1_bound", theta0=(-1.0, [*NO_NUMBER, 1.0]), step_size=(0.1, "positive"),
    b=(-1.0, "negative"), form=("printed", NO_TEXT))  # fmt: skip
row("theory.two_arm_regime", experiment=(TWO, [*WRONG["bandit experiment"], BASE]))

# What an experiment is.
row("Bandit", means=([1.0, 0.0], "vector"), noise=(..., NO_TEXT[1:]), sigma=(..., NO_NUMBER[1:]),
    half_width=(..., NO_NUMBER[1:]), table=(..., NO_OBJECT), names=(..., "names"))  # fmt: skip
row("Bandit.from_table", table=([[(1.0, 1.0)], [(0.0, 1.0)]], [*NO_OBJECT, None, [[(1.0, 2.0)]],
    [[(math.nan, 1.0)]], [[(1.0,)]]]), names=(..., "names"))  # fmt: skip
row("Constant", c=(1.0, "number"))
row("Decay", scale=(1.0, "positive"), power=(1.0, "non-negative"), offset=(1.0, "positive"))
row("Decay.at", cm.Decay(1.0, 0.3).at, t=(3, "integer"))
row("Decay.values", cm.Decay(1.0, 0.3).values, steps=(3, "integer"))
row("Values", values=([0.1], [*WRONG["vector"], []]))
row("Values.at", cm.Values([0.1, 0.2]).at, t=(1, "integer"))
row("Values.values", cm.Values([0.1, 0.2]).values, steps=(1, "integer"))
row("Direct", probabilities=([0.5, 0.5], [x for x in WRONG["law"] if x is not None]))
row("EpsilonGreedy", epsilon=(0.1, "unit"))
row("ExactQ", solver=("iterative", NO_TEXT), tolerance=(0.1, "positive"),
    discounted=(False, "flag"), weight=(..., NO_OBJECT))  # fmt: skip
row("Expected", weight=(..., NO_OBJECT))
row("Experiment", problem=(BANDIT, "object"), policy=(cm.Softmax(), "object"),
    update=(cm.Natural(0.1), "object"), baseline=(0.5, [*NO_OBJECT[:1], math.nan, "x", None]),
    behaviour=(cm.OnPolicy(), "object"), estimator=(cm.OneSample(), "object"),
    steps=(3, "integer"), optimiser=(cm.Plain(), "object"),
    regulariser=(..., NO_OBJECT), record=(cm.Record(), "object"))  # fmt: skip
row("Snapshot", every=(3, "count"))
row("Asymmetric")
row("Tapered")
row("Clip", low=(0.2, "unit"), high=(0.3, [x for x in WRONG["non-negative"] if x is not None]))
row("Truncate", low=(0.5, "non-negative"), high=(2.0, "non-negative"))
row("Delightful", temperature=(1.0, "positive"))
row("Implicit", gamma=(0.1, "non-negative"))
row("Group", samples=(4, "count"), centre=("mean", NO_TEXT[1:]), scale=("std", NO_TEXT[1:]),
    ddof=(0, [*NO_INTEGER, HUGE, 2]), eps=(0.0, "non-negative"), weight=(..., NO_OBJECT),
    epochs=(1, "count"), starts=("drawn", NO_TEXT))  # fmt: skip
row("contexts", bandits=([BANDIT, BANDIT], [*NO_OBJECT, [], [BANDIT, 3]]))
row("Entropy", strength=(0.1, "rate"))
NO_REFERENCE = [*WRONG["law"], [1.0, 0.0], "end", NUL]
row("KL", reference=([0.5, 0.5], NO_REFERENCE), strength=(0.1, "non-negative"),
    form=("k3", "text"))  # fmt: skip
row("ReverseKL", reference=([0.5, 0.5], NO_REFERENCE), strength=(0.1, "non-negative"))
row("LogBarrier", strength=(0.1, "non-negative"))
row("Escort", theta0=([0.0, 1.0], [x for x in WRONG["vector"] if x is not None]),
    power=(2.0, [*NO_NUMBER, 0, 0.5]))  # fmt: skip
NO_START = [x for x in WRONG["vector"] if x is not None]
row("ScaledSoftmax", theta0=([0.0, 1.0], NO_START), scale=(2.0, "positive"))
row("Tsallis", theta0=([0.0, 1.0], NO_START), scale=(2.0, "positive"))
row("Critic", rate=(0.1, [*WRONG["unit"][1:], 0]), initial=(0.0, "number"))
row("Fixed", probabilities=([0.5, 0.5], "law"))
row("Gap", fraction=(0.5, "unit"))
GRID = {"text": ("S.A", [None, 3, object(), "", NUL, "...", [3]]),
        "goals": ({"A": 1.0}, [None, 3, object(), "A", {}, {"A": math.nan}, {3: 1.0}, {"B": 1.0}]),
        "gamma": (0.5, "discount"), "slip": (0.1, "unit"), "step_reward": (0.0, "number"),
        "limit": (5, "count"), "start": ("S", [*NO_TEXT, "SS", "Q"])}  # fmt: skip
row("Gridworld", **GRID)
row("gridworld", **GRID)
ROOMS = cm.maps.four_rooms()
row("Gridworld.letter", ROOMS.letter, state=(1, [*WRONG["integer"], 10**6]))
row("Gridworld.position", ROOMS.position, state=(1, [*WRONG["integer"], 10**6]))
row("Gridworld.state_at", ROOMS.state_at, row=(1, [*WRONG["integer"], 0]),
    column=(1, [*WRONG["integer"], 0]))  # fmt: skip
row("Gridworld.range_of", ROOMS.range_of, name=("value", [*NO_TEXT, "valu"]))
row("Gridworld.return_bounds", ROOMS.return_bounds, limit=(3, WRONG["integer"][1:]))
row("Bandit.range_of", BANDIT.range_of, name=("value", [*NO_TEXT, "valu"]))
row("Maximum")
row("MinVariance", metric=("natural", NO_TEXT), lam=(0.1, NO_NUMBER[1:]))
row("Natural", step_size=(0.1, "positive"), entropy=(0.0, "rate"))
row("OnPolicy")
row("OneSample", samples=(2, "count"), implicit=(0.0, "rate"), weight=(..., NO_OBJECT),
    epochs=(1, "count"))  # fmt: skip
row("Precision", quantity=("value", [*NO_TEXT, "x"]), half_width=(0.1, "positive"),
    confidence=(0.9, "inside"), relative=(False, "flag"), below=(..., NO_NUMBER[1:]))  # fmt: skip
row("Precision.width_for", cm.Precision("value", 0.1).width_for, estimate=(0.5, "number"))
row("Projected", step_size=(0.1, "positive"))
row("Record", lambda **k: cm.Record("value", **k), every=(..., [*NO_INTEGER[1:], 0]),
    at=(..., [*WRONG["integer"][1:6], [-1], [0.5], "x"]), log=(..., [*NO_INTEGER[1:], 0]),
    reduce=(..., NO_OBJECT))  # fmt: skip
row("Reduce", below=(0.5, NO_NUMBER[1:]), quantiles=([0.5], [*WRONG["vector"], [2.0]]),
    bins=(4, WRONG["count"][1:]), range=(..., [*WRONG["pair"][:-1], [1.0, 0.0]]))  # fmt: skip
row("Reinforce", weight=(..., NO_OBJECT))
row("RunningMean", rate=(0.1, [*WRONG["unit"][1:], 0]), initial=(0.0, "number"))
row("Sigmoid", theta0=(0.0, "number"))
row("Softmax", theta0=([0.0, 1.0], [x for x in WRONG["vector"] if x is not None]))
row("TabularMDP", P=([[[0.0, 1.0]], [[0.0, 1.0]]], [*NO_ARRAY, None, 1.0, [], [[[0.5, 0.6]]] * 2]),
    R=([[1.0], [0.0]], [*NO_ARRAY[:7], [1.0, 2.0, 3.0], [[math.nan], [0.0]]]),
    gamma=(0.5, "discount"), start=(0, ["x", object(), 7, [0.5, 0.6], [[1, 2], [3]], xr.Dataset()]),
    terminal=([1], ["x", object(), [7], [-1], [0.5], [0, 1], math.nan]), limit=(5, "count"),
    states=(..., "names"), actions=(..., [3, object(), [3], ["a", "b"], "abc"]))  # fmt: skip
row("UniformMixture", gamma=(0.1, "unit"))
row("Value")
row("Vanilla", step_size=(0.1, "positive"), entropy=(0.0, "rate"))
row("Baseline.relative", cm.Value().relative, c=(0.5, "number"))
row("keeps_exploring", x=(0.1, "non-negative"))
row("robbins_monro", x=(0.1, "non-negative"))
for _maps in ("maps", "grids"):
    row(f"{_maps}.five_by_five")
    row(f"{_maps}.four_rooms")

# Formulas.
NO_FORMULA = [3, object(), [], {}, math.nan, True, b"x", cm.Value(), "", "x", "sun(pi)", NUL,
              "pi *", "(" * 1000, "x" * 10**5, "__import__('os')"]  # fmt: skip


def formula_row(part: str, formula: str, /, **more: Any) -> None:
    """A row of a decorator: its first argument is given without a name."""
    made = getattr(cm, part)
    if "state" in inspect.signature(made).parameters:
        more["state"] = (..., NO_STATE)

        def call(formula: Any, state: Any = None, **parameters: Any) -> Any:
            return made(formula, state=state, **parameters)

        row(part, call, formula=(formula, NO_FORMULA), parameters=PARAMETERS, **more)
    elif "name" in more:
        row(part, lambda formula, name, states, **parameters: made(
                formula, name=name, states=states, **parameters),
            formula=(formula, NO_FORMULA), parameters=PARAMETERS, **more)  # fmt: skip
    else:
        row(part, lambda formula, **parameters: made(formula, **parameters),
            formula=(formula, NO_FORMULA), parameters=PARAMETERS)  # fmt: skip


NO_STATE = [3, "x", [], object(), {"v": 1}, {3: 0.0}, {"v": (0.0, 3)}, {"v": (None, "v")}]
BELOW_ONE = [*NO_NUMBER, -0.1, 1]
PARAMETERS = (..., [None, "1", object(), math.nan, [1.0], 1.0])
formula_row("baseline", "sum(pi * r)")
formula_row("weight", "minimum(rho, 1)")
formula_row("update", "A * score")
formula_row("link", "exp(theta)")
formula_row("optimiser", "sign(g)")
formula_row("quantity", "max(pi)",
            name=("largest", [*NO_TEXT[1:], "value", "run", "a b", ""]),
            states=("mean", [*NO_TEXT[1:], "all", ""]))  # fmt: skip
row("Plain")
row("Momentum", beta=(0.5, BELOW_ONE))
row("Adam", beta1=(0.5, BELOW_ONE), beta2=(0.5, BELOW_ONE), eps=(1e-8, "positive"))
row("Normalised")
row("ClipNorm", limit=(1.0, "positive"))
VECTOR = symbol(leaf("input", "pi", "arm"))
NO_OPERAND = [None, "1", NUL, object(), math.nan, math.inf, HUGE, [1.0], 1j, {}, np.ma.masked]
for _name in (
    *("abs", "exp", "log", "sign", "sqrt"),
    *("sigmoid", "tanh", "softplus", "log1p", "expm1"),
):
    row(_name, x=(VECTOR, NO_OPERAND))
for _name in ("minimum", "maximum"):
    row(_name, x=(VECTOR, NO_OPERAND), y=(1, NO_OPERAND))
for _name in ("sum", "mean", "median", "min", "max", "logsumexp", "softmax", "tsallis"):
    row(_name, x=(VECTOR, [*NO_OPERAND, 1.0]), over=("arms", [*NO_TEXT, "samples"]))
row("std", x=(VECTOR, NO_OPERAND), over=("arms", NO_TEXT), ddof=(1, [*NO_INTEGER, 2]))
row("dot", x=(VECTOR, NO_OPERAND), y=(VECTOR, NO_OPERAND), over=("arms", NO_TEXT))
row("others", x=(VECTOR, NO_OPERAND), how=("mean", [*NO_TEXT, "median"]), over=("arms", NO_TEXT))
row("clip", x=(VECTOR, NO_OPERAND), low=(0, NO_OPERAND), high=(1, NO_OPERAND))
row("where", condition=(VECTOR > 1, [*NO_OPERAND, 1.0, VECTOR]), x=(1, NO_OPERAND),
    y=(VECTOR, NO_OPERAND))  # fmt: skip
row("onehot", a=(0, [*NO_OPERAND, VECTOR]))

# Runs, studies, files and neighbours.
row("from_arrays", values=([[0.5, 1.0]], [*NO_ARRAY, 1.0, [1.0], [[[1.0, 1.0], [1.0, 1.0]]]]),
    policy=([[[0.5, 0.5], [0.2, 0.8]]], [*NO_ARRAY, 1.0, [[0.5]], [[[0.5, 0.6]] * 2]]),
    theta=([[[0.5, 0.5], [0.2, 0.8]]], [*NO_ARRAY, 1.0, [[0.5]]]),
    time=([0, 5], [*NO_ARRAY, 1.0, [0], [5, 0], [0.5, 1.0]]),
    arms=(["a", "b"], [3, object(), [3], ["a"], ["a", "a"], "ab"]),
    experiment=(..., [*NO_OBJECT, WALK]), others=(..., NO_ARRAY))  # fmt: skip
row("run", experiment=(BASE, "experiment"), runs=(2, "integer"), rng=(0, NO_RNG),
    threads=(1, WRONG["count"][1:]), progress=(False, [None, 1, "x", object()]),
    first_run=(0, "integer"), chunk=(1, WRONG["count"][1:]), isa=("auto", NO_TEXT),
    independent=(False, "flag"))  # fmt: skip
row("explore", experiment=(BASE, "experiment"), other=(BASE, "optional experiment"),
    rng=(0, "integer"), below=(0.5, "optional number"), port=(0, [*WRONG["integer"], 65536]),
    show=(False, "flag"))  # fmt: skip
row("experiment_of", data=(DATA, [*NO_OBJECT, None, xr.Dataset, xr.Dataset()]))
row("study_of", data=(SWEEP, [*NO_OBJECT, None, xr.Dataset, xr.Dataset()]))
row("Study", base=(BASE, "experiment"), grid=(..., [3, object(), "x", {"x": [1]}, {"steps": []}]),
    runs=(2, "count"), rng=(0, NO_RNG), independent=(False, "flag"))  # fmt: skip
row("open", path=(..., "path"), verify=(..., []))
row("read_study", path=(..., "path"))
row("export", data=(DATA, []), path=(..., "path"))


class Lake:
    """What `from_gymnasium` asks of an environment: a table."""

    def __init__(self, P: Any) -> None:
        self.P = P


def lakes() -> list[Any]:
    """Environments with tables that make no sense."""
    tables = [{}, {0: 3}, {0: {0: 3}}, {0: {0: [(1.0, 0)]}}, {1: {0: []}}, {0: {}, 1: {0: []}},
              {0: {0: [(1.0, HUGE, 0.0, True)]}}, {0: {0: [("x", 0, 0.0, True)]}}, {"x": {}, 0: {}},
              {0: {0: [(1.0, "x", object(), True)]}}]  # fmt: skip
    return [Lake(table) for table in tables]


WATER = Lake({0: {0: [(1.0, 1, 1.0, True)]}, 1: {0: [(1.0, 1, 0.0, True)]}})
row("from_gymnasium", env=(WATER, [*NO_OBJECT, None, *lakes()]), gamma=(0.5, "discount"),
    limit=(5, WRONG["count"][1:]))  # fmt: skip
row("to_gymnasium", mdp=(MAZE, "MDP"))

# Pictures: what they ask of their data is theirs; here only that a wrong dataset is refused.
for _name in ("bands", "grid", "heatmap", "learning_curves", "simplex", "survival", "visits"):
    _first, *_rest = inspect.signature(getattr(cm.plot, _name)).parameters
    row(f"plot.{_name}", **{_first: (..., NO_OBJECT)}, **{name: (..., []) for name in _rest})
FILM = cm.run(BASE.replace(record=cm.Record("policy", every=2)), runs=2, rng=0)
row("plot.animate", data=(FILM, [*NO_DATA, SWEEP, {"a": 3}, {3: FILM}, dict.fromkeys("abcde", FILM),
    {"a": FILM, "b": DATA.isel(time=slice(2))}]),
    true_gradient=(..., [x for x in NO_DATA if x is not None]), frames=(2, [*NO_INTEGER, 1, HUGE]),
    seconds=(1.0, "positive"), max_runs=(1, WRONG["count"][1:]), run=(..., WRONG["integer"][1:]),
    dpi=(20.0, [*NO_NUMBER, 0, -1, 10_000]))  # fmt: skip
row("plot.panels", count=(1, []), kind=(..., []))

#: Public, and without arguments to check: why.
EXEMPT = {
    "results, made by the package": (
        "Evaluation", "FailureRate", "exact.BaselineQuadratic", "exact.CommittalMap",
        "exact.HorizonLaw", "exact.Moments", "exact.OneStepLaw", "exact.Path",
        "plot.Animation", "exact.Corner", "exact.Edge", "exact.StationaryPoint",
        "exact.ValueIdentity", "theory.Claim", "theory.ClaimTable", "theory.CommittalRate",
        "theory.Enclosure", "theory.KLFixedPoints", "theory.Regime", "theory.ScheduleCheck",
    ),
    "errors": ("exact.NotConvergedError",),
    "abstract": ("Baseline",),
}  # fmt: skip

#: Calls that need more than a right argument to work, or leave something behind: a file, a server.
NOT_CALLED = {"open", "read_study", "export", "explore"}

#: (function, argument) that may still raise untyped errors: studies and files.
KNOWN: set[tuple[str, str]] = set()


def public() -> Iterator[tuple[str, Any]]:
    """Everything that is public and callable. The oracle is left out: it is written to be read and
    to share nothing with the package, not even its checks, and only tests call it.
    """
    rooms = {"": cm, "analysis.": cm.analysis, "exact.": cm.exact, "theory.": cm.theory}
    rooms |= {"plot.": cm.plot, "maps.": cm.maps, "grids.": cm.grids}
    for prefix, room in rooms.items():
        for name in getattr(room, "__all__", None) or dir(room):
            thing = getattr(room, name)
            if callable(thing) and not name.startswith("_"):
                yield prefix + name, thing
    yield "open", cm.open
