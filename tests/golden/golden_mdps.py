"""Golden cases of MDPs, of their evaluation, and of studies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from golden_bandits import CALLS, UNUSED, baseline_of, behaviour_of, rate_of
from golden_forms import Case, Evaluate, Optimal, Row, Run, Study, cover, name_of

import committal as cm

# -- MDPs ------------------------------------------------------------------------------------------

MDP_AXES: Mapping[str, Sequence[str]] = {
    "mdp": ("rooms", "square", "slippery", "chain", "loops", "endless"),
    "update": ("natural", "vanilla"),
    "estimator": (
        "exact-q",
        "discounted",
        "iterative",
        "iterative-discounted",
        "reinforce",
        "expected",
    ),
    "behaviour": ("on-policy", "mixture", "mixture-decay", "greedy", "greedy-values", "fixed"),
    "baseline": (
        "zero",
        "constant",
        "value",
        "min-variance",
        "min-variance-natural",
        "min-variance-lam",
        "maximum",
        "relative",
        "linear",
        "running",
        "running-rate",
        "running-half",
    ),
    "start": ("level", "by-action", "by-state", "far"),
    "step": ("steady", "decay", "decay-root", "values"),
    "record": ("every", "at", "log", "end", "mean", "quantiles", "bins"),
    "call": ("whole", "later", "much-later", "chunks", "independent"),
}

MDP_TOGETHER = (("mdp", "update", "estimator"),)


def mdp_allowed(row: Row) -> bool:
    """Say whether parts of an MDP experiment go together."""
    baseline = row.get("baseline", "zero")
    match row.get("estimator"):
        case None:
            return True
        case "expected":
            return baseline in UNUSED
        case "reinforce":
            return baseline in ("zero", "constant") or baseline.startswith("running")
    return not baseline.startswith("running")


def open_map(size: int, starts: int = 1) -> str:
    """A square room with starts on the diagonal, a goal in the last corner and another."""
    rows = [["."] * size for _ in range(size)]
    for i in range(starts):
        rows[i][i] = "S"
    rows[-1][-1], rows[3][5] = "A", "B"
    return "\n".join("".join(row) for row in rows)


def slippery() -> cm.Gridworld:
    """Two starts, two goals, moves that may go sideways and cost something."""
    return cm.gridworld(
        """
        S..#A
        ..#..
        S...B
        """,
        goals={"A": 1.0, "B": 0.5},
        gamma=0.9,
        slip=0.2,
        step_reward=-0.02,
        limit=20,
    )


def chain() -> cm.TabularMDP:
    """Two actions; one of them mostly stays."""
    return cm.TabularMDP(
        [
            (0, 0, 0, 0.9, 0.0),
            (0, 0, 1, 0.1, 0.0),
            (0, 1, 1, 1.0, -0.1),
            (1, 0, 0, 1.0, 0.0),
            (1, 1, 2, 1.0, 1.0),
        ],
        gamma=0.9,
        limit=15,
        terminal=[2],
        states=["left", "right", "out"],
        actions=["wait", "go"],
    )


def loops() -> cm.TabularMDP:
    """Three actions, dense stochastic rows, rewards by next state, starts by chance."""
    states, actions = 7, 3
    s, a, after = np.ogrid[:states, :actions, :states]
    weight = (5 * s + 3 * a + 3 * after + s * after) % 7
    weight[:, :, 4] = 0  # nobody gets to state 4
    weight[3, 2] = np.arange(states) == 3  # an action that never leaves
    reward = ((3 * s + 2 * a + 5 * after) % 7 - 2) / 4
    return cm.TabularMDP(
        weight / weight.sum(-1, keepdims=True),
        reward,
        gamma=0.85,
        start=[0.5, 0.0, 0.25, 0.25, 0.0, 0.0, 0.0],
        terminal=[1, 6],
        limit=12,
    )


def endless() -> cm.TabularMDP:
    """Five actions, moves without chance, no terminal state."""
    records = [
        (s, a, (s + a) % 4, 1.0, ((2 * s + 3 * a) % 5) / 4) for s in range(4) for a in range(5)
    ]
    return cm.TabularMDP(records, gamma=0.8, start=1, limit=9)


def torus(size: int) -> cm.TabularMDP:
    """Three actions on a square without border; one of them may fail; starts everywhere."""
    states = size * size
    records = []
    for s in range(states):
        row, column = divmod(s, size)
        right = row * size + (column + 1) % size
        left = row * size + (column - 1) % size
        down = (row + 1) % size * size + column
        records += [
            (s, 0, right, 1.0, 0.0),
            (s, 1, down, 0.75, 0.0),
            (s, 1, s, 0.25, -0.1),
            (s, 2, left, 1.0, (s % 3) / 8),
        ]
    starts = [1.0 / (states - 1) if s else 0.0 for s in range(states)]
    return cm.TabularMDP(records, gamma=0.9, start=starts, terminal=[0], limit=5)


GOALS = {"A": 1.0, "B": 0.25}

MDPS: Mapping[str, cm.TabularMDP] = {
    "rooms": cm.maps.four_rooms(),
    "square": cm.maps.five_by_five(),
    "slippery": slippery(),
    "chain": chain(),
    "loops": loops(),
    "endless": endless(),
    "torus-9": torus(9),
    "open-30": cm.gridworld(open_map(30), goals=GOALS, gamma=0.97, limit=12),
    # The factors of these no longer fit into what the core takes for a near cache.
    "open-38": cm.gridworld(open_map(38), goals=GOALS, gamma=0.97, slip=0.2, limit=12),
    "open-37": cm.gridworld(open_map(37, starts=30), goals=GOALS, gamma=0.97, limit=6),
    "torus-38": torus(38),
}


def mdp_start(start: str, mdp: cm.TabularMDP) -> cm.Softmax:
    A, S = mdp.n_actions, mdp.n_states
    match start:
        case "level":
            return cm.Softmax()
        case "by-action":
            return cm.Softmax([0.5 * a - 0.25 for a in range(A)])
        case "by-state":
            return cm.Softmax([[float((s + 2 * a) % 3 - 1) for a in range(A)] for s in range(S)])
        case "far":
            return cm.Softmax([(-40.0, 2.0, 0.0, 1.0, 1.5)[a] + 650.0 for a in range(A)])
    raise ValueError(start)


def mdp_estimator(estimator: str) -> Any:
    return {
        "exact-q": cm.ExactQ(),
        "discounted": cm.ExactQ(discounted=True),
        "iterative": cm.ExactQ(solver="iterative", tolerance=1e-3),
        "iterative-discounted": cm.ExactQ(solver="iterative", tolerance=0.05, discounted=True),
        "reinforce": cm.Reinforce(),
        "expected": cm.Expected(),
    }[estimator]


def mdp_record(record: str, steps: int) -> cm.Record:
    names: tuple[str, ...] = cm.MDP_RECORDABLE
    match record:
        case "every":
            return cm.Record(*names, every=5)
        case "at":
            return cm.Record(*names, at=[0, 1, 7, steps])
        case "log":
            return cm.Record("return", "length", "goal", "value", "theta", log=5)
        case "end":
            return cm.Record()
        case "mean":
            return cm.Record(*names, at=[0, steps], reduce=cm.Reduce())
        case "quantiles":
            known = ("return", "length", "goal", "action_entropy", "state_entropy", "value")
            reduce = cm.Reduce(below=0.2, quantiles=(0.25, 0.5, 1.0))
            return cm.Record(*known, every=6, reduce=reduce)
        case "bins":
            ends = {"theta": (-3.0, 3.0), "visits": (0.0, 60.0)}
            reduce = cm.Reduce(bins=8, range=ends)
            names = ("goal", "goal_probability", "policy", "theta", "visits")
            return cm.Record(*names, at=[3, steps], reduce=reduce)
    raise ValueError(record)


def mdp_experiment(row: Row) -> cm.Experiment:
    mdp, steps = MDPS[row["mdp"]], 12
    update, size = {"natural": (cm.Natural, 0.05), "vanilla": (cm.Vanilla, 0.4)}[row["update"]]
    half = 0.5 * cm.RunningMean(initial=0.25) + 0.1
    return cm.Experiment(
        problem=mdp,
        policy=mdp_start(row["start"], mdp),
        update=update(rate_of(row["step"], size, steps)),
        baseline=half if row["baseline"] == "running-half" else baseline_of(row["baseline"]),
        behaviour=behaviour_of(row["behaviour"], mdp.n_actions, steps),
        estimator=mdp_estimator(row["estimator"]),
        steps=steps,
        record=mdp_record(row["record"], steps),
    )


def mdp_cases() -> Iterator[Case]:
    """Every pair of levels, and the triples of MDP_TOGETHER."""
    for row in cover(MDP_AXES, mdp_allowed, MDP_TOGETHER):
        yield Run(name_of("mdp", row), mdp_experiment(row), 39, CALLS[row["call"]])


def special_mdp_cases() -> Iterator[Case]:
    """Single quantities, no steps, large maps."""
    base = cm.Experiment(
        problem=slippery(),
        policy=cm.Softmax(),
        update=cm.Natural(step_size=0.1),
        baseline=cm.MinVariance() - 0.5,
        estimator=cm.ExactQ(),
        steps=12,
    )
    for name in cm.MDP_RECORDABLE:
        yield Run(f"mdp/only/{name}", base.replace(record=cm.Record(name, every=5)), 39)
    reduced = cm.Record("goal", "goal_probability", reduce=cm.Reduce())
    every = cm.Record(*cm.MDP_RECORDABLE, every=6)
    yield Run("mdp/rollouts", base.replace(steps=0, record=reduced), 200)
    yield Run("mdp/runs/0", base.replace(record=every), 0)
    yield Run("mdp/runs/0/reduced", base.replace(record=reduced), 0)
    yield Run("mdp/runs/1", base.replace(record=every), 1)
    yield Run("mdp/runs/16", base.replace(record=every), 16)
    yield from large_mdp_cases(base)


def large_mdp_cases(base: cm.Experiment) -> Iterator[Case]:
    """Every estimator where blocks are narrow, and lanes that have little in common."""
    everything = cm.Value() / 2 + cm.MinVariance() / 4 + cm.MinVariance("natural") / 8
    everything += cm.MinVariance("natural", lam=0.5) / 8 - cm.Maximum() / 4
    record = cm.Record(*cm.MDP_RECORDABLE, at=[0, 2])
    for name in ("torus-9", "open-30", "open-38", "open-37", "torus-38"):
        large = base.replace(problem=MDPS[name], steps=2, baseline=everything, record=record)
        runs = 9 if "3" in name else 39
        yield Run(f"mdp/{name}/exact-q", large, runs)
        reinforced = large.replace(
            update=cm.Vanilla(0.5),
            estimator=cm.Reinforce(),
            behaviour=cm.UniformMixture(0.1),
            baseline=cm.RunningMean() - 0.5,
        )
        yield Run(f"mdp/{name}/reinforce", reinforced, runs)
        if "38" in name:
            expected = large.replace(update=cm.Vanilla(0.5), estimator=cm.Expected(), baseline=0.0)
            yield Run(f"mdp/{name}/expected", expected, 3)
            swept = large.replace(estimator=cm.ExactQ(solver="iterative", tolerance=0.01))
            yield Run(f"mdp/{name}/iterative", swept, 3)


def evaluation_cases() -> Iterator[Case]:
    """Every MDP, solved and swept, one policy and many, and its optimum."""
    for name, mdp in MDPS.items():
        many = 3 if mdp.n_states > 500 else 37
        swept = {"method": "iterative", "tolerance": 1e-6 if mdp.n_states < 500 else 0.01}
        yield Evaluate(f"evaluate/{name}/direct/uniform", mdp, 0)
        yield Evaluate(f"evaluate/{name}/direct/{many}", mdp, many)
        yield Evaluate(f"evaluate/{name}/iterative/{many}", mdp, many, swept)
        yield Optimal(f"optimal/{name}", mdp)


# -- studies ---------------------------------------------------------------------------------------


def study_cases() -> Iterator[Case]:
    """Grids of experiments, kept and reduced, in chunks, with common and with own streams."""
    base = cm.Experiment(
        problem=cm.Bandit([1.0, 0.7, 0.0], noise="bernoulli"),
        policy=cm.Softmax(),
        update=cm.Natural(step_size=0.1),
        baseline=cm.Value(),
        steps=20,
        record=cm.Record("value", "policy", "action", every=10),
    )
    grid = {
        "baseline": [cm.Value(), cm.MinVariance() - 0.5, cm.Constant(0.25)],
        ("update.step_size", "steps"): [(0.1, 20), (0.4, 10)],
    }
    reduce = cm.Reduce(below=0.9, quantiles=(0.5,), bins=16)
    reduced = base.replace(record=cm.Record("value", "entropy", every=10, reduce=reduce))
    starts = {"start": {"level": {"policy.theta0": None}, "bad": {"policy.theta0": [0, 3, 5]}}}
    maze = cm.Experiment(
        problem=slippery(),
        policy=cm.Softmax(),
        update=cm.Natural(step_size=0.1),
        estimator=cm.ExactQ(),
        steps=6,
        record=cm.Record("return", "goal", "visits", every=3),
    )
    yield Study("study/kept", base, grid, 70)
    yield Study("study/chunks", base, grid, 70, chunk=32)
    yield Study("study/independent", base, grid, 70, {"independent": True})
    yield Study("study/reduced", reduced, {**grid, **starts}, 70)
    yield Study("study/mdp", maze, {"update.step_size": [0.05, cm.Decay(0.5, 1.0)]}, 20)
