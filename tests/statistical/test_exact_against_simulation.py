"""The exact answers against simulated runs.

Each comparison fails by chance with probability below 1e-6: five standard errors, plus the error
that the exact answer reports of itself.

Where runs end is known of a simulated run only if it has become certain at a corner that attracts
it. The others are *undecided*; they are few where steps are many, and both sides of the comparison
allow for them.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest

import committal as cm
from committal import exact, theory
from committal.exact import vertices

SIGMAS = 5.0
THREE = cm.Bandit([1.0, 0.7, 0.0])
Floats = npt.NDArray[np.float64]


def decided(experiment: cm.Experiment, theta: Floats) -> Floats:
    """The fraction of runs that have ended on each arm, by their last parameters (n, 3)."""
    r = np.array(experiment.problem.means)  # type: ignore[attr-defined]
    row, k = np.arange(len(theta)), theta.argmax(axis=1)
    depth = theta - theta.max(axis=1, keepdims=True)
    depth[row, k] = -np.inf
    certain = depth.max(axis=1) < -14.0
    shares = np.exp(depth - depth.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    counts = np.zeros(3)
    for arm in range(3):
        here = certain & (k == arm)
        s = vertices.pull(experiment.baseline, arm, shares[here], r)
        counts[arm] = (s > 0.0).sum()
    return counts / len(theta)


def compare(
    baseline: cm.config.Baseline, alpha: float, start: list[float], runs: int, steps: int
) -> None:
    """Hold the map's probabilities against simulated ends."""
    e = cm.Experiment(
        THREE,
        cm.Softmax(start),
        cm.Natural(alpha),
        baseline,
        steps=steps,
        record=cm.Record("theta"),
    )
    found = exact.committal_map(e)
    probabilities, error = found.probabilities(), float(found.error())
    ended = np.zeros(3)
    chunk = min(runs, 200_000)
    for first in range(0, runs, chunk):
        data = cm.run(e, runs=chunk, first_run=first, rng=11)
        ended += decided(e, data.theta.values[:, -1]) * chunk / runs
    undecided = 1.0 - ended.sum()
    sem = np.sqrt(np.maximum(probabilities * (1.0 - probabilities), 1.0 / runs) / runs)
    assert (ended <= probabilities + SIGMAS * sem + error).all(), (start, ended, probabilities)
    assert (probabilities <= ended + undecided + SIGMAS * sem + error).all(), (start, undecided)
    # Arms that nothing can end on leave the whole difference to the others: a sharp comparison
    # wherever few runs are undecided.
    assert undecided < 0.3


def test_two_arms() -> None:
    for baseline, alpha, runs in ((-1.0, 0.05, 40_000), (cm.MinVariance() - 1.5, 0.1, 40_000)):
        e = cm.Experiment(
            cm.Bandit([1, 0]),
            cm.Sigmoid(-1.0),
            cm.Natural(alpha),
            baseline,
            steps=1500,
            record=cm.Record("value", reduce=cm.Reduce(below=0.5)),
        )
        probability, error = exact.committal_probability(e, return_error=True)
        failures = int(cm.run(e, runs=runs, rng=3).failures.values[-1])
        sem = math.sqrt(probability * (1 - probability) / runs)
        assert abs(failures / runs - probability) < SIGMAS * sem + error


def test_two_noisy_arms() -> None:
    e = cm.Experiment(
        cm.Bandit([0.9, 0.2], noise="bernoulli"),
        cm.Sigmoid(-1.0),
        cm.Natural(0.2),
        cm.Constant(-0.5),
        estimator=cm.OneSample(2),
        steps=1000,
        record=cm.Record("value", reduce=cm.Reduce(below=0.55)),
    )
    runs = 30_000
    probability, error = exact.committal_probability(e, return_error=True)
    failures = int(cm.run(e, runs=runs, rng=3).failures.values[-1])
    sem = math.sqrt(probability * (1 - probability) / runs)
    assert abs(failures / runs - probability) < SIGMAS * sem + error


@pytest.mark.parametrize("start", [[0, 0, 0], [0, 3, 3]])
def test_three_arms(start: list[float]) -> None:
    compare(cm.MinVariance() - 0.5, 0.1, start, 30_000, 1200)


def test_a_wrong_map_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison of a different baseline's map with these runs must fail."""
    honest = exact.committal_map
    monkeypatch.setattr(
        exact, "committal_map", lambda e: honest(e.replace(baseline=cm.MinVariance() - 0.6))
    )
    with pytest.raises(AssertionError):
        compare(cm.MinVariance() - 0.5, 0.1, [0, 3, 3], 30_000, 1200)


STARTS = [
    [0, 3, 5],
    [0, 3, 3],
    [0, 0, 0],
    [1, 2, 0],
    [0, 2, 4],
    [0, 4, 0],
    [-2, 1, 0],
    [2, 0, 3],
    [0, 5, 3],
    [3, 3, 0],
]


@pytest.mark.slow
@pytest.mark.parametrize("start", STARTS, ids=str)
@pytest.mark.parametrize(
    "baseline",
    [cm.MinVariance() - 0.5, cm.MinVariance(), cm.Constant(-1.0)],
    ids=repr,
)
def test_three_arms_at_many_starts(baseline: cm.config.Baseline, start: list[float]) -> None:
    compare(baseline, 0.025, start, 1_000_000, 3000)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("baseline", "alpha", "start"),
    [
        (cm.Value() - 0.3, 0.025, [0, 3, 5]),
        (cm.MinVariance("natural"), 0.025, [0, 3, 5]),
        (cm.MinVariance("natural"), 0.025, [0, 5, 0]),
        (cm.MinVariance() - 0.5, 0.5, [0, 1, 0]),
        (cm.MinVariance() - 1.0, 0.1, [0, 3, 3]),
    ],
    ids=str,
)
def test_other_three_arms(baseline: cm.config.Baseline, alpha: float, start: list[float]) -> None:
    compare(baseline, alpha, start, 1_000_000, 3000)


def test_the_probability_is_a_martingale() -> None:
    """E[h(theta_t)] = h(theta_0) at every t, long before anything is decided."""
    e = cm.Experiment(
        THREE,
        cm.Softmax([0, 2, 3]),
        cm.Natural(0.1),
        cm.MinVariance() - 0.5,
        steps=40,
        record=cm.Record("theta", at=[5, 20, 40]),
    )
    found = exact.committal_map(e)
    theta = cm.run(e, runs=40_000, rng=5).theta.values
    h = found.probabilities(theta)[..., 1]
    sem = h.std(axis=0) / math.sqrt(len(h))
    off = np.abs(h.mean(axis=0) - found.probabilities()[1])
    assert (off < SIGMAS * sem + found.error() + found.error(theta).mean(axis=0)).all()


def test_the_law_after_a_few_updates() -> None:
    """Frequencies of the atoms of theta_4, by a chi-square test."""
    from scipy.stats import chi2

    e = cm.Experiment(
        cm.Bandit([0.9, 0.4], noise="bernoulli"),
        cm.Softmax([0.0, 0.5]),
        cm.Natural(0.3),
        cm.MinVariance() - 0.2,
        cm.UniformMixture(0.2),
        steps=4,
        record=cm.Record("theta"),
    )
    law = exact.law_after(e)
    runs = 50_000
    theta = cm.run(e, runs=runs, rng=2).theta.values[:, -1]
    # Each run is nearest to its own atom; the atoms are far apart compared with rounding.
    gap = np.abs(law.theta[:, None, :] - law.theta[None]).sum(axis=-1)
    assert gap[~np.eye(len(gap), dtype=bool)].min() > 1e-9
    counts = np.zeros(len(law.probability))
    for part in np.array_split(theta, 40):
        distance = np.abs(part[:, None, :] - law.theta[None]).sum(axis=-1)
        assert distance.min(axis=1).max() < 1e-10
        counts += np.bincount(distance.argmin(axis=1), minlength=len(counts))
    expected = runs * law.probability
    often = expected >= 5.0
    observed = np.append(counts[often], counts[~often].sum())
    wanted = np.append(expected[often], expected[~often].sum())
    statistic = float(((observed - wanted) ** 2 / np.maximum(wanted, 1e-9)).sum())
    assert statistic < chi2.isf(1e-6, len(wanted) - 1)


def test_one_step_moments() -> None:
    e = cm.Experiment(
        cm.Bandit([0.9, 0.5, 0.2], noise="bernoulli"),
        cm.Softmax([0.3, 0.0, -0.2]),
        cm.Vanilla(0.5),
        cm.Value() - 0.5,
        steps=1,
        record=cm.Record("policy"),
    )
    law = exact.one_step_law(e)
    runs = 200_000
    change = cm.run(e, runs=runs, rng=4).policy.values[:, -1] - law.policy
    sem = np.sqrt(np.diag(law.covariance("policy")) / runs)
    assert (np.abs(change.mean(axis=0) - law.mean("policy")) < SIGMAS * sem).all()
    lowered = float((change[:, 0] < 0.0).mean())
    p = float(law.worsening_probability())
    assert abs(lowered - p) < SIGMAS * math.sqrt(p * (1 - p) / runs)


def test_the_same_action_in_the_first_updates() -> None:
    e = cm.Experiment(
        cm.Bandit([1, 0]),
        cm.Sigmoid(-1.0),
        cm.Natural(0.15),
        cm.Constant(-1.0),
        cm.UniformMixture(cm.Decay(0.5, 1.5)),
        steps=100,
        record=cm.Record("action", every=1),
    )
    p = float(theory.same_action_forever(e, 1, steps=100))
    actions = cm.run(e, runs=40_000, rng=6).action.values.reshape(40_000, -1)[:, :100]
    always = float((actions == 1).all(axis=1).mean())
    assert abs(always - p) < SIGMAS * math.sqrt(p * (1 - p) / 40_000)
