"""The golden cases: small runs and evaluations that together use every part of the package.

Everything is built from the public names of `committal`. The larger tables choose their rows by
covering: every pair of levels that may go together (and some triples) occurs in at least one case.
What may not go together is named by a rule. Nothing here is random, and no number depends on a
library whose last bit may differ between machines.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

import committal as cm

#: By name: the dimensions (empty if there are none) and the values.
Arrays = dict[str, tuple[tuple[str, ...], npt.NDArray[Any]]]
Row = Mapping[str, str]


# -- what a case is --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """`cm.run` of an experiment."""

    name: str
    experiment: cm.Experiment
    runs: int
    options: Mapping[str, Any] = field(default_factory=dict)
    chooses_isa = True

    def compute(self, isa: str = "auto", threads: int = 1) -> Arrays:
        options = {"rng": 0, **self.options}
        return arrays_of(
            cm.run(self.experiment, runs=self.runs, isa=isa, threads=threads, **options)
        )


@dataclass(frozen=True)
class Study:
    """`cm.Study.run` in memory; it takes the best instruction set."""

    name: str
    experiment: cm.Experiment
    grid: Mapping[Any, Any]
    runs: int
    options: Mapping[str, Any] = field(default_factory=dict)
    chunk: int | None = None
    chooses_isa = False

    def compute(self, isa: str = "auto", threads: int = 1) -> Arrays:
        study = cm.Study(self.experiment, self.grid, runs=self.runs, rng=3, **self.options)
        return arrays_of(study.run(threads=threads, progress=False, chunk=self.chunk))


@dataclass(frozen=True)
class Evaluate:
    """`cm.evaluate` of policies of an MDP, and all that follows from it."""

    name: str
    mdp: cm.TabularMDP
    policies: int
    options: Mapping[str, Any] = field(default_factory=dict)
    chooses_isa = True

    def compute(self, isa: str = "auto", threads: int = 1) -> Arrays:
        policy = policies_of(self.mdp, self.policies) if self.policies else None
        return evaluation_arrays(
            cm.evaluate(self.mdp, policy, isa=isa, threads=threads, **self.options)
        )


@dataclass(frozen=True)
class Optimal:
    """`cm.optimal` of an MDP; it takes the best instruction set."""

    name: str
    mdp: cm.TabularMDP
    chooses_isa = False

    def compute(self, isa: str = "auto", threads: int = 1) -> Arrays:
        return evaluation_arrays(cm.optimal(self.mdp))


Case = Run | Study | Evaluate | Optimal


def arrays_of(data: Any) -> Arrays:
    """The variables and coordinates of a dataset. Its attributes hold versions: left out."""
    return {str(name): (data[name].dims, data[name].values) for name in data.variables}


def evaluation_arrays(found: cm.Evaluation) -> Arrays:
    arrays: dict[str, npt.NDArray[Any]] = {
        "policy": found.policy,
        "V": found.V,
        "Q": found.Q,
        "advantage": found.advantage,
        "state_distribution": found.state_distribution,
        "goal_probability": found.goal_probability,
    }
    if isinstance(found.mdp.start, int):
        # A product with a unit vector is exact; others are left to NUMBERS, for BLAS may differ.
        arrays["value"] = found.value
    if found.sweeps is not None:
        arrays["sweeps"] = found.sweeps
    return {name: ((), np.asarray(values)) for name, values in arrays.items()}


def digest(arrays: Arrays) -> str:
    """Hash names, dimensions, types, shapes and bytes; texts by their characters."""
    whole = hashlib.sha256()
    for name, (dims, values) in sorted(arrays.items()):
        if values.dtype.kind in "OUST":
            kind, content = "text", "\0".join(map(str, values.ravel().tolist())).encode()
        else:
            little = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
            kind, content = little.dtype.str, little.tobytes()
        whole.update(repr((name, tuple(dims), kind, values.shape)).encode())
        whole.update(content)
    return whole.hexdigest()[:32]


# -- covering --------------------------------------------------------------------------------------


def cover(
    axes: Mapping[str, Sequence[str]],
    allowed: Callable[[Row], bool],
    together: Sequence[tuple[str, ...]] = (),
) -> list[Row]:
    """Choose rows, one level per axis, that contain every allowed pair of levels.

    Parameters
    ----------
    axes
        The levels of every axis.
    allowed
        Whether a row, of all axes or of some, can be made.
    together
        Axes of which every combination is to occur, not only every pair.
    """
    order = list(axes)
    groups = [*itertools.combinations(order, 2), *together]
    missing: dict[tuple[tuple[str, str], ...], None] = {}
    for group in sorted(groups, key=len, reverse=True):
        for levels in itertools.product(*(axes[axis] for axis in group)):
            if allowed(dict(zip(group, levels, strict=True))):
                missing[tuple(zip(group, levels, strict=True))] = None
    used = {(axis, level): 0 for axis in order for level in axes[axis]}
    of_axis = {axis: [group for group in groups if axis in group] for axis in order}

    def gain(row: Row, axis: str) -> int:
        complete = (group for group in of_axis[axis] if all(other in row for other in group))
        return sum(tuple((other, row[other]) for other in group) in missing for group in complete)

    rows: list[Row] = []
    while missing:
        row = dict(next(iter(missing)))
        for axis in order:
            if axis in row:
                continue
            options = [level for level in axes[axis] if allowed({**row, axis: level})]
            scores = [(gain({**row, axis: level}, axis), -used[axis, level]) for level in options]
            row[axis] = options[scores.index(max(scores))]
        rows.append({axis: row[axis] for axis in order})
        for group in groups:
            missing.pop(tuple((axis, row[axis]) for axis in group), None)
        for axis, level in row.items():
            used[axis, level] += 1
    return rows


#: Levels that go without saying in the name of a case.
UNSAID = ("one", "exact", "level", "steady", "plain", "whole")


def name_of(first: str, row: Row) -> str:
    return "/".join([first, *(level for level in row.values() if level not in UNSAID)])


# -- bandits ---------------------------------------------------------------------------------------

BANDIT_AXES: Mapping[str, Sequence[str]] = {
    "geometry": (
        "softmax-natural",
        "softmax-vanilla",
        "sigmoid-natural",
        "sigmoid-vanilla",
        "direct-vanilla",
        "direct-projected",
    ),
    "estimator": ("one", "samples", "implicit", "expected"),
    "behaviour": ("on-policy", "mixture", "mixture-decay", "greedy", "greedy-values", "fixed"),
    "baseline": (
        "zero",
        "constant",
        "value",
        "min-variance",
        "min-variance-natural",
        "min-variance-lam",
        "maximum",
        "gap",
        "running",
        "running-rate",
        "relative",
        "linear",
        "linear-running",
    ),
    "arms": ("2", "3", "4", "5", "10", "70", "150", "300"),
    "noise": ("exact", "bernoulli", "gaussian", "gaussian-by-arm", "uniform", "table"),
    "start": ("level", "sloped", "ahead", "behind", "far", "vertex"),
    "step": ("steady", "decay", "decay-root", "values"),
    "entropy": ("plain", "entropy", "entropy-decay"),
    "record": ("every", "at", "log", "end", "mean", "quantiles", "bins", "one-range"),
    "call": ("whole", "later", "much-later", "chunks", "independent"),
}

#: These decide which loops of the kernels run.
BANDIT_TOGETHER = (("geometry", "estimator", "behaviour"),)

CALLS: Mapping[str, Mapping[str, Any]] = {
    "whole": {},
    "later": {"first_run": 1000, "rng": 7},
    "much-later": {"first_run": 2**40 + 5, "rng": [1, 2]},
    "chunks": {"chunk": 37, "rng": 12345678901234567890},
    "independent": {"independent": True, "rng": np.random.SeedSequence(5)},
}

#: Baselines beside an estimator that uses none. (It refuses running means.)
UNUSED = ("zero", "constant", "value")


def bandit_allowed(row: Row) -> bool:
    """Say whether parts of a bandit experiment go together."""
    geometry = row.get("geometry", "")
    if geometry.startswith("sigmoid") and row.get("arms", "2") != "2":
        return False
    if geometry.startswith("direct"):
        if row.get("entropy", "plain") != "plain":
            return False
        if row.get("start") in ("ahead", "behind", "far"):
            return False
    if row.get("start") == "vertex":
        if geometry and not geometry.startswith("direct"):
            return False
        if row.get("entropy", "plain") != "plain":
            return False
    # What nothing would depend on is not worth a case.
    if row.get("record") == "end" and row.get("start") in ("ahead", "far", "vertex"):
        return False
    return not (row.get("estimator") == "expected" and row.get("baseline", "zero") not in UNUSED)


def means_of(arms: int) -> tuple[float, ...]:
    """Different means in [0, 1], not in order."""
    if arms == 3:
        return (1.0, 0.7, 0.0)
    return tuple((11 * k + 3) % arms / arms for k in range(arms))


def table_of(arms: int) -> list[list[tuple[float, float]]]:
    """One, two or three values per arm; one of them is impossible."""
    kinds: Sequence[Callable[[float], list[tuple[float, float]]]] = (
        lambda m: [(m, 1.0)],
        lambda m: [(m - 0.5, 0.5), (m + 0.5, 0.5)],
        lambda m: [(m - 0.25, 0.5), (m, 0.25), (9.0, 0.0), (m + 0.5, 0.25)],
    )
    return [kinds[k % 3](m) for k, m in enumerate(means_of(arms))]


def bandit_of(noise: str, arms: int) -> cm.Bandit:
    means = means_of(arms)
    by_arm = [0.1 + 0.05 * (k % 5) for k in range(arms)]
    match noise:
        case "exact":
            return cm.Bandit(means)
        case "bernoulli":
            return cm.Bandit(means, noise="bernoulli")
        case "gaussian":
            return cm.Bandit(means, noise="gaussian", sigma=0.3)
        case "gaussian-by-arm":
            return cm.Bandit(means, noise="gaussian", sigma=by_arm)
        case "uniform":
            return cm.Bandit(means, noise="uniform", half_width=by_arm)
        case "table":
            return cm.Bandit.from_table(table_of(arms), names=[f"no {k}" for k in range(arms)])
    raise ValueError(noise)


def softmax_start(start: str, arms: int) -> cm.Softmax:
    first = {"ahead": 50.0, "behind": -40.0}
    match start:
        case "level":
            return cm.Softmax()
        case "sloped" if arms == 3:
            return cm.Softmax([0, 3, 5])
        case "sloped":
            return cm.Softmax([5.0 * k / (arms - 1) for k in range(arms)])
        case "far":
            return cm.Softmax([0.0, 700.0] + [0.5] * (arms - 2))
    return cm.Softmax([first[start]] + [0.0] * (arms - 1))


def policy_of(geometry: str, start: str, arms: int) -> Any:
    if geometry.startswith("softmax"):
        return softmax_start(start, arms)
    if geometry.startswith("sigmoid"):
        starts = {"level": 0.0, "sloped": -1.0, "ahead": 50.0, "behind": -40.0, "far": 700.0}
        return cm.Sigmoid(starts[start])
    if start == "level":
        return cm.Direct()
    if start == "vertex":
        return cm.Direct([0.0] * (arms - 1) + [1.0])
    total = arms * (arms + 1) // 2
    return cm.Direct([(k + 1) / total for k in range(arms)])


def rate_of(step: str, size: float, steps: int) -> Any:
    match step:
        case "steady":
            return size
        case "decay":
            return cm.Decay(size, 1.0)
        case "decay-root":
            return cm.Decay(size, 0.5, offset=3.0)
        case "values":
            return cm.Values([size * (1 + t % 5) / 3 for t in range(steps)])
    raise ValueError(step)


def baseline_of(baseline: str) -> Any:
    return {
        "zero": 0.0,
        "constant": cm.Constant(-0.5),
        "value": cm.Value(),
        "min-variance": cm.MinVariance(),
        "min-variance-natural": cm.MinVariance(metric="natural"),
        "min-variance-lam": cm.MinVariance(metric="natural", lam=-0.75),
        "maximum": cm.Maximum(),
        "gap": cm.Gap(0.25),
        "running": cm.RunningMean(),
        "running-rate": cm.RunningMean(rate=0.25, initial=0.5),
        "relative": cm.MinVariance().relative(0.25),
        "linear": 0.9 * cm.Value() - 0.3 * cm.Maximum() + 0.1,
        "linear-running": cm.MinVariance(metric="natural") / 2 + 0.25 * cm.RunningMean() - 0.1,
    }[baseline]


def behaviour_of(behaviour: str, arms: int, steps: int) -> Any:
    match behaviour:
        case "on-policy":
            return cm.OnPolicy()
        case "mixture":
            return cm.UniformMixture(0.2)
        case "mixture-decay":
            return cm.UniformMixture(cm.Decay(0.5, 0.5))
        case "greedy":
            return cm.EpsilonGreedy(0.3)
        case "greedy-values":
            return cm.EpsilonGreedy(cm.Values([1.0 / (1 + t % 4) for t in range(max(steps, 1))]))
        case "fixed":
            total = sum(k % 4 + 1 for k in range(arms))
            return cm.Fixed([(k % 4 + 1) / total for k in range(arms)])
    raise ValueError(behaviour)


def estimator_of(estimator: str) -> Any:
    return {
        "one": cm.OneSample(),
        "samples": cm.OneSample(samples=3),
        "implicit": cm.OneSample(implicit=0.05),
        "expected": cm.Expected(),
    }[estimator]


def bandit_record(record: str, steps: int, draws: bool) -> cm.Record:
    drawn = ("action", "reward")
    names = tuple(name for name in cm.RECORDABLE if draws or name not in drawn)
    undrawn = tuple(name for name in names if name != "action")
    match record:
        case "every":
            return cm.Record(*names, every=9)
        case "at":
            return cm.Record(*names, at=[0, 1, 17, steps])
        case "log":
            return cm.Record(*names, log=6)
        case "end":
            return cm.Record()
        case "mean":
            return cm.Record(*undrawn, at=[0, 13, steps], reduce=cm.Reduce())
        case "quantiles":
            reduce = cm.Reduce(below=0.6, quantiles=(0.1, 0.5, 0.9))
            return cm.Record("value", "entropy", "distance", every=10, reduce=reduce)
        case "bins":
            ends = {"theta": (-8.0, 8.0), "regret": (0.0, 30.0)}
            reduce = cm.Reduce(bins=12, range=ends)
            return cm.Record("value", "policy", "theta", "regret", at=[2, steps], reduce=reduce)
        case "one-range":
            reduce = cm.Reduce(bins=10, range=(-2.0, 2.0), quantiles=(0.0, 0.25, 1.0), below=0.5)
            return cm.Record("baseline", "variance", "value", log=4, reduce=reduce)
    raise ValueError(record)


def bandit_experiment(row: Row) -> cm.Experiment:
    arms = int(row["arms"])
    steps = 36 if arms <= 10 else 21
    geometry = row["geometry"]
    update = {"natural": cm.Natural, "vanilla": cm.Vanilla, "projected": cm.Projected}
    kind = geometry.split("-")[1]
    size = {"natural": 0.05, "vanilla": 0.3, "projected": 0.05}[kind]
    options: dict[str, Any] = {"step_size": rate_of(row["step"], size, steps)}
    if row["entropy"] != "plain":
        options["entropy"] = {"entropy": 0.02, "entropy-decay": cm.Decay(0.1, 1.0)}[row["entropy"]]
    return cm.Experiment(
        problem=bandit_of(row["noise"], arms),
        policy=policy_of(geometry, row["start"], arms),
        update=update[kind](**options),
        baseline=baseline_of(row["baseline"]),
        behaviour=behaviour_of(row["behaviour"], arms, steps),
        estimator=estimator_of(row["estimator"]),
        steps=steps,
        record=bandit_record(row["record"], steps, draws=row["estimator"] != "expected"),
    )


def bandit_cases() -> Iterator[Case]:
    """Every pair of levels, and the triples of BANDIT_TOGETHER."""
    for row in cover(BANDIT_AXES, bandit_allowed, BANDIT_TOGETHER):
        # More than one block of lanes, the last of them not full.
        runs = {"70": 70, "150": 40, "300": 40}.get(row["arms"], 130)
        yield Run(name_of("bandit", row), bandit_experiment(row), runs, CALLS[row["call"]])


def special_bandit_cases() -> Iterator[Case]:
    """What the table does not reach: single quantities, limits, many arms, long runs."""
    base = cm.Experiment(
        problem=cm.Bandit([1.0, 0.7, 0.0], noise="gaussian", sigma=0.5),
        policy=cm.Softmax([0, 3, 5]),
        update=cm.Natural(step_size=0.05),
        baseline=cm.MinVariance() - 0.5,
        steps=40,
    )
    for name in cm.RECORDABLE:
        yield Run(f"bandit/only/{name}", base.replace(record=cm.Record(name, every=11)), 150)
    every = cm.Record(*cm.RECORDABLE, every=10)
    for arms in (1, 17, 64, 65, 128, 129, 257):
        wide = base.replace(
            problem=cm.Bandit([k * 37 % arms / arms for k in range(arms)]),
            policy=cm.Softmax(),
            baseline=cm.Value() - 0.1,
            record=every,
        )
        yield Run(f"bandit/arms/{arms}/natural", wide, 70)
        if arms in (1, 65, 129):
            vanilla = wide.replace(update=cm.Vanilla(2.0), baseline=cm.MinVariance())
            yield Run(f"bandit/arms/{arms}/vanilla", vanilla, 70)
    # One theta moves at a time: the fastest loops.
    off_policy = itertools.cycle(BANDIT_AXES["behaviour"][1:])
    baselines = itertools.cycle(BANDIT_AXES["baseline"])
    noises = itertools.cycle(BANDIT_AXES["noise"])
    for arms in map(int, BANDIT_AXES["arms"]):
        for behaviour in ("on-policy", next(off_policy)):
            baseline, noise = next(baselines), next(noises)
            single = base.replace(
                problem=bandit_of(noise, arms),
                policy=softmax_start("sloped", arms),
                baseline=baseline_of(baseline),
                behaviour=behaviour_of(behaviour, arms, 40),
                record=every,
            )
            yield Run(f"bandit/single/{arms}/{behaviour}/{baseline}/{noise}", single, 130)
    # Sums over leaves, with and without values.
    for arms in (150, 300):
        for baseline in ("constant", "value", "min-variance", "linear", "running"):
            leaves = base.replace(
                problem=bandit_of("gaussian", arms),
                policy=softmax_start("level" if arms == 150 else "sloped", arms),
                baseline=baseline_of(baseline),
                estimator=cm.OneSample(implicit=0.0 if arms == 150 else 0.001),
                record=every,
            )
            yield Run(f"bandit/leaves/{arms}/{baseline}", leaves, 40)
    for arms in (2, 3, 4, 10, 150):  # the shift of theta is moved again and again
        rebased = base.replace(
            problem=bandit_of("gaussian", arms),
            policy=softmax_start("sloped", arms),
            update=cm.Natural(step_size=6.0),
            baseline=cm.Value() - 0.5,
            record=every,
        )
        yield Run(f"bandit/rebased/{arms}/natural", rebased, 70)
        sinking = rebased.replace(baseline=cm.Maximum() + 1.0)
        yield Run(f"bandit/rebased/{arms}/sinking", sinking, 70)
        if arms in (3, 150):
            vanilla = rebased.replace(update=cm.Vanilla(step_size=60.0, entropy=0.01))
            yield Run(f"bandit/rebased/{arms}/vanilla", vanilla, 70)
    updates = itertools.cycle((cm.Natural(0.05), cm.Vanilla(0.5, entropy=0.1)))
    for theta in ((50, 0, 0), (-40, 0, 0), (700, 0, 0), (0, 0, 1e4), (-745, 745, 0)):
        far = base.replace(
            policy=cm.Softmax(theta),
            update=next(updates),
            behaviour=cm.UniformMixture(0.1),
            record=every,
        )
        yield Run(f"bandit/start/{','.join(f'{x:g}' for x in theta)}", far, 70)
    for theta0 in (50.0, -40.0, 700.0):
        one = base.replace(
            problem=cm.Bandit([0.0, 1.0]),
            policy=cm.Sigmoid(theta0),
            update=next(updates),
            behaviour=cm.Fixed([0.25, 0.75]),
            record=every,
        )
        yield Run(f"bandit/start/sigmoid/{theta0:g}", one, 70)
    plain = base.replace(record=every)
    reduced = base.replace(record=cm.Record("value", every=20, reduce=cm.Reduce(below=0.5)))
    yield Run("bandit/runs/0", plain, 0)
    yield Run("bandit/runs/1", plain, 1)
    yield Run("bandit/runs/64", plain, 64)
    yield Run("bandit/runs/0/reduced", reduced, 0)
    yield Run("bandit/runs/1/reduced", reduced, 1)
    yield Run("bandit/steps/0", plain.replace(steps=0), 70)
    yield Run("bandit/steps/1", plain.replace(steps=1), 70)
    yield Run("bandit/steps/700", base.replace(steps=700, record=cm.Record(log=9)), 70)
    yield Run("bandit/chunk/1", plain, 9, {"chunk": 1})
    yield Run("bandit/rng/spawned", plain, 70, {"rng": np.random.SeedSequence(9).spawn(2)[1]})
    yield Run("bandit/ties", plain.replace(problem=cm.Bandit([0.5, 1.0, 1.0])), 70)
    yield Run("bandit/samples/33", plain.replace(estimator=cm.OneSample(samples=33)), 70)
    fading = cm.OneSample(samples=2, implicit=cm.Decay(0.1, 1.0))
    yield Run("bandit/samples/implicit", plain.replace(estimator=fading), 70)
    # Powers other than 0, 1/2, 1 and 2 use pow of the C library. Those of 1, ..., 6 are not near
    # the middle between two numbers, so that every good library rounds them alike.
    quarter = plain.replace(update=cm.Natural(cm.Decay(0.5, 0.25)), steps=6)
    yield Run("bandit/decay/quarter", quarter, 70)


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


def policies_of(mdp: cm.TabularMDP, count: int) -> npt.NDArray[np.float64]:
    """Different policies, [count, S, A]; some actions have probability 0."""
    i, s, a = np.ogrid[:count, : mdp.n_states, : mdp.n_actions]
    weight = (7 * i + 3 * s + 5 * a + i * s * a) % 11
    weight[:, :, :1] += 1  # no row is empty
    return np.asarray(weight / weight.sum(-1, keepdims=True))


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


# -- numbers that are not bits ---------------------------------------------------------------------


@dataclass(frozen=True)
class Number:
    """Numbers from SciPy, BLAS or libm: equal up to a relative tolerance, not bit by bit."""

    compute: Callable[[], Any]
    tolerance: float = 1e-9


def _two_arms() -> cm.Experiment:
    return cm.Experiment(cm.Bandit([1, 0]), cm.Sigmoid(-1), cm.Natural(0.1), -1.0, steps=20)


def _three_arms() -> cm.Experiment:
    return cm.Experiment(
        cm.Bandit([1.0, 0.7, 0.0]),
        cm.Softmax([0, 1, 2]),
        cm.Natural(0.1),
        cm.MinVariance() - 0.5,
        steps=5,
    )


def _rewarded() -> cm.Experiment:
    return _three_arms().replace(
        problem=cm.Bandit([1.0, 0.7, 0.0], noise="bernoulli"),
        update=cm.Vanilla(0.3, entropy=0.05),
        behaviour=cm.UniformMixture(0.2),
    )


def _law(experiment: cm.Experiment) -> Any:
    law = cm.exact.one_step_law(experiment)
    moments = [law.mean(), law.mean("policy"), law.covariance(), law.worsening_probability()]
    return np.concatenate([np.ravel(x) for x in moments])


def _after(experiment: cm.Experiment) -> Any:
    law = cm.exact.law_after(experiment, 3)
    return law.expectation(law.theta)


def _failures() -> Any:
    experiment = _two_arms().replace(steps=100)
    rate = cm.failure_rate(cm.run(experiment, runs=500, rng=0, threads=1), below=0.5)
    return [float(rate), rate.low, rate.high, rate.failures]


def _values(name: str) -> Any:
    return cm.evaluate(MDPS[name], policies_of(MDPS[name], 4), threads=1).value


POLICIES = [[0.2, 0.3, 0.5], [0.9, 0.05, 0.05]]

NUMBERS: Mapping[str, Number] = {
    "committal_probability": Number(lambda: cm.exact.committal_probability(_two_arms())),
    "committal_map": Number(
        lambda: cm.exact.committal_map(_two_arms()).probabilities([-1.0, 0.0, 1.0])
    ),
    "gradient_variance": Number(lambda: cm.exact.gradient_variance(_three_arms(), policy=POLICIES)),
    "gradient_variance/vanilla": Number(
        lambda: cm.exact.gradient_variance(_rewarded(), policy=POLICIES)
    ),
    "log_variance_ratio": Number(
        lambda: cm.exact.log_variance_ratio(
            _three_arms(), _three_arms().replace(baseline=cm.Value()), policy=POLICIES
        )
    ),
    "minimum_variance_baseline": Number(
        lambda: [
            cm.exact.minimum_variance_baseline([1.0, 0.7, 0.0], POLICIES, **options)
            for options in ({}, {"metric": "natural"}, {"metric": "natural", "lam": 0.5})
        ]
    ),
    "two_arm_variance": Number(lambda: cm.exact.two_arm_variance([0.1, 0.5], [-1.0, 0.5])),
    "simplex_grid": Number(lambda: cm.exact.simplex_grid(4)),
    "one_step_law": Number(lambda: _law(_three_arms())),
    "one_step_law/bernoulli": Number(lambda: _law(_rewarded())),
    "law_after": Number(lambda: _after(_three_arms())),
    "expected_path": Number(lambda: cm.exact.expected_path(_rewarded()).theta),
    "gradient_flow": Number(
        lambda: cm.exact.gradient_flow(_three_arms(), [0.0, 1.0, 5.0]).theta, tolerance=1e-6
    ),
    "same_action_forever": Number(lambda: float(cm.theory.same_action_forever(_two_arms(), arm=1))),
    "proposition_1_bound": Number(
        lambda: [
            cm.theory.proposition_1_bound(-1, 0.1, -1, form=form)
            for form in ("corrected", "printed")
        ]
    ),
    "gap_bound": Number(lambda: cm.theory.gap_bound(_three_arms().replace(baseline=cm.Gap()), 200)),
    "off_policy_bound": Number(
        lambda: cm.theory.off_policy_bound(
            _two_arms().replace(behaviour=cm.UniformMixture(0.5)), 3000
        )
    ),
    "committal_rate": Number(
        lambda: (
            cm.theory.committal_rate(
                _three_arms().replace(baseline=cm.Value()), 0, steps=256
            ).exponent
        )
    ),
    "baseline_range": Number(
        lambda: cm.theory.baseline_range(cm.MinVariance() - 0.5, np.array([1.0, 0.7, 0.0]))
    ),
    "check_schedule": Number(lambda: cm.theory.check_schedule(cm.Decay(1.0, 0.75), 1000).squares),
    "failure_rate": Number(_failures),
    "shortest_paths": Number(
        lambda: [path.value for path in cm.maps.four_rooms().shortest_paths().values()]
    ),
    "value/slippery": Number(lambda: _values("slippery")),
    "value/loops": Number(lambda: _values("loops")),
}


def numbers_of(number: Number) -> list[float]:
    """Twelve significant digits of each."""
    found = np.ravel(np.asarray(number.compute(), np.float64)).tolist()
    return [x if x == 0 or not math.isfinite(x) else float(f"{x:.11e}") for x in found]


def close(found: Sequence[float], expected: Sequence[float], tolerance: float) -> bool:
    """Say whether two lists of numbers are equal up to a relative tolerance."""
    return len(found) == len(expected) and all(
        math.isclose(x, y, rel_tol=tolerance, abs_tol=1e-12)
        for x, y in zip(found, expected, strict=True)
    )


# -- all of them -----------------------------------------------------------------------------------


def all_cases() -> dict[str, Case]:
    """Return the cases by name."""
    makers = (
        bandit_cases,
        special_bandit_cases,
        mdp_cases,
        special_mdp_cases,
        evaluation_cases,
        study_cases,
    )
    listed = [case for maker in makers for case in maker()]
    cases = {case.name: case for case in listed}
    if len(cases) < len(listed):
        raise ValueError("two cases have the same name")
    return cases


CASES = all_cases()


def experiment_hashes() -> dict[str, str]:
    """Return what identifies the experiments in stores, by name of the case."""
    return {
        name: case.experiment.hash[:32] for name, case in CASES.items() if isinstance(case, Run)
    }
