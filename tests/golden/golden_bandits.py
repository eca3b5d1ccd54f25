"""Golden cases of bandits."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from golden_forms import Case, Row, Run, cover, name_of

import committal as cm

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
