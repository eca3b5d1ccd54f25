"""Groups of N samples, by counts: known numbers, closed forms, the oracle's tuples."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import committal as cm
from committal import reference
from committal.exact.counted import over_counts
from committal.exact.counts import MOST_OUTCOMES, count_vectors, multinomial
from committal.exact.lumped import can_lump

STD = cm.weight("where(max(R) > min(R), rho / std(R), 0)")
NORM = "(1 - 2 * pi[a] + sum(pi**2))"
CENTRES = {
    "mean": ("mean(R)", None),
    "rloo": ("others(R, 'mean')", None),
    "grpo": ("mean(R)", STD),
    "opo": (f"sum({NORM} * R) / sum({NORM})", None),
    "oploo": (f"others({NORM} * R, 'sum') / others({NORM}, 'sum')", None),
}


def group(rule: str, samples: int, problem: Any = None, theta: Any = (0, 1, 2)) -> cm.Experiment:
    formula, weight = CENTRES[rule]
    return cm.Experiment(
        cm.Bandit([1, 0.7, 0]) if problem is None else problem,
        cm.Softmax(list(theta)),
        cm.Vanilla(1),
        baseline=cm.baseline(formula),
        estimator=cm.OneSample(samples=samples, weight=weight),
        steps=1,
    )


# r = (1, .7, 0), theta = (0, 1, 2): the mean and the trace of the covariance of an independent
# implementation, to 8 digits.
MEASURED = {
    ("mean", 2): ((0.033250969, 0.053676234, -0.086927203), 0.023869063),
    ("rloo", 2): ((0.066501938, 0.10735247, -0.17385441), 0.095476251),
    ("grpo", 2): ((0.081925069, 0.14077036, -0.22269543), 0.16860721),
    ("opo", 2): ((0.021378291, 0.044247815, -0.065626105), 0.010219738),
    ("mean", 4): ((0.049876453, 0.080514351, -0.1303908), 0.016024258),
    ("rloo", 4): ((0.066501938, 0.10735247, -0.17385441), 0.028487569),
    ("grpo", 4): ((0.11797399, 0.2416071, -0.35958108), 0.11496436),
    ("opo", 4): ((0.041037276, 0.07930435, -0.12034163), 0.0093841794),
    ("oploo", 4): ((0.066501938, 0.10735247, -0.17385441), 0.028681033),
}


@pytest.mark.parametrize(("rule", "samples"), MEASURED)
def test_one_step_of_a_group(rule: str, samples: int) -> None:
    mean, trace = MEASURED[rule, samples]
    e = group(rule, samples)
    np.testing.assert_allclose(cm.exact.one_step(e).mean(), mean, atol=1e-8)
    assert float(cm.exact.gradient_variance(e)) == pytest.approx(trace, abs=1e-8)


@pytest.mark.parametrize("rule", CENTRES)
@pytest.mark.parametrize("samples", [2, 3])
def test_counts_give_what_the_oracles_tuples_give(rule: str, samples: int) -> None:
    table = cm.Bandit.from_table([[(6, 0.1), (0, 0.9)], [(0.5, 1.0)], [(-1, 0.3), (0.5, 0.7)]])
    e = group(rule, samples, table)
    theta = np.array([0.0, 1.0, 2.0])
    want = reference.one_step_law(e, theta)
    law = cm.exact.one_step_law(e)
    mean = sum(o.probability * (o.theta - theta) for o in want)
    square = sum(o.probability * np.outer(o.theta - theta, o.theta - theta) for o in want)
    np.testing.assert_allclose(law.mean(), mean, atol=1e-14)
    np.testing.assert_allclose(law.second_moment(), square, atol=1e-14)


laws = st.lists(
    st.lists(st.tuples(st.floats(-10, 10), st.integers(1, 9)), min_size=1, max_size=3),
    min_size=2,
    max_size=3,
)


@given(laws, st.integers(2, 6), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=60)
def test_leave_one_out_is_unbiased_for_every_law(law: Any, samples: int, seed: int) -> None:
    table = [[(v, n / sum(m for _, m in arm)) for v, n in arm] for arm in law]
    bandit = cm.Bandit.from_table(table)
    theta = np.random.default_rng(seed).normal(size=bandit.arms)
    e = group("rloo", samples, bandit, theta)
    pi, r = cm.exact.one_step(e).policy, np.array(bandit.means)
    gradient = pi * (r - pi @ r)
    np.testing.assert_allclose(cm.exact.one_step(e).mean(), gradient, atol=1e-12)
    own = cm.exact.one_step(e.replace(baseline=cm.baseline("mean(R)"))).mean()
    np.testing.assert_allclose(own, (samples - 1) / samples * gradient, atol=1e-12)


# p, N, ddof, eps: the factor on the gradient of p.
FACTORS = {
    (0.1, 2, 0, 0.0): 1.0,
    (0.1, 8, 0, 0.0): 2.3276891,
    (0.01, 64, 0, 0.0): 6.7361959,
    (0.3, 16, 0, 0.0): 2.0924923,
    (0.5, 64, 0, 0.0): 1.9841864,
    (0.1, 8, 1, 1e-4): 2.1768002,
    (0.5, 16, 1, 1e-4): 1.8723312,
}


@pytest.mark.parametrize(("p", "samples", "ddof", "eps"), FACTORS)
def test_division_by_the_std_of_binary_rewards(
    p: float, samples: int, ddof: int, eps: float
) -> None:
    std = "where(max(R) > min(R), rho / (std(R) * sqrt(N / (N - d)) + eps), 0)"
    e = group("mean", samples, cm.Bandit([1.8 * p, 0.2 * p], noise="bernoulli"), (0, 0))
    e = e.replace(**{"estimator.weight": cm.weight(std, d=ddof, eps=eps)})
    factor = cm.exact.one_step(e).mean()[0] / (0.25 * 1.6 * p)
    assert float(factor) == pytest.approx(FACTORS[p, samples, ddof, eps], abs=1e-7)


def test_at_two_binary_rewards_the_std_changes_nothing() -> None:
    bandit = cm.Bandit([0.3, 0.6, 0.1], noise="bernoulli")
    one, other = (cm.exact.one_step(group(rule, 2, bandit)) for rule in ("grpo", "rloo"))
    np.testing.assert_array_equal(one.probability, other.probability)
    np.testing.assert_allclose(one.update, other.update, atol=1e-16)


def test_the_std_can_prefer_the_worse_arm() -> None:
    bandit = cm.Bandit.from_table([[(6, 0.1), (0, 0.9)], [(0.5, 1.0)]])
    want = {2: -0.2, 3: -0.26904708, 4: -0.28999673, 6: -0.28419336}
    for samples, drift in want.items():
        mean = cm.exact.one_step(group("grpo", samples, bandit, (0, 0))).mean()
        assert float(mean[0]) == pytest.approx(drift, abs=1e-8)
        mean = cm.exact.one_step(group("rloo", samples, bandit, (0, 0))).mean()
        assert float(mean[0]) == pytest.approx(0.025, abs=1e-15)


@pytest.mark.parametrize(
    ("means", "samples", "most"), [([0.18, 0.02], 128, 1.5), ([0.8, 0.5, 0.1], 32, 3.0)]
)
def test_large_groups_take_no_time(means: list[float], samples: int, most: float) -> None:
    e = group("grpo", samples, cm.Bandit(means, noise="bernoulli"), [0] * len(means))
    before = time.process_time()
    law = cm.exact.one_step(e)
    variance = cm.exact.gradient_variance(e)
    # Twice what it takes on a slow machine; tuples would take for ever.
    assert time.process_time() - before < 4 * most
    assert float(law.probability.sum()) == pytest.approx(1.0, abs=1e-12)
    trace = float(np.trace(law.covariance()))
    assert float(variance) == pytest.approx(trace, rel=1e-10)


SHARED = cm.Bandit.from_table([[(1, 0.2), (0, 0.8)], [(0, 0.5), (1, 0.3), (2, 0.2)], [(1, 1.0)]])
LUMPED = {
    "rloo": {"baseline": cm.baseline("others(R, 'mean')")},
    "grpo": {"baseline": cm.baseline("mean(R)"), "estimator.weight": STD},
    "gate": {
        "baseline": cm.baseline("mean(R)") + 0.1,
        "estimator.weight": cm.weight("where(A > 0, rho, pi[a]) / (max(A) - min(b) + 1)"),
    },
    "arms": {"baseline": cm.baseline("pi[a] * mean(R)"), "estimator.weight": STD},
    "natural": {"baseline": cm.baseline("max(R) - 1"), "update": cm.Natural(1)},
    "behaviour": {
        "baseline": cm.baseline("std(R)"),
        "behaviour": cm.Fixed([0.2, 0.5, 0.3]),
        "estimator.weight": cm.weight("minimum(rho, 1) * mean(R)"),
    },
}


@pytest.mark.parametrize("case", LUMPED)
@pytest.mark.parametrize("visible", [False, True])
def test_counts_of_rewards_are_enough(case: str, visible: bool) -> None:
    e = group("mean", 3, SHARED).replace(**LUMPED[case])
    assert can_lump(e)
    theta = np.random.default_rng(1).normal(size=(2, 3))
    found = cm.exact.gradient_moments(e, theta=theta, visible=visible)
    law = cm.exact.one_step(e, theta=theta)
    seen = np.eye(3) - (1 / 3 if visible else 0)
    np.testing.assert_allclose(found.mean, law.mean() @ seen, atol=1e-14)
    want = seen @ law.covariance() @ seen
    np.testing.assert_allclose(found.covariance, want, atol=1e-13)
    np.testing.assert_allclose(cm.exact.flow(e, theta=theta), law.mean(), atol=1e-14)


def test_what_looks_at_arms_is_not_counted_by_rewards() -> None:
    e = group("opo", 3, SHARED)
    assert not can_lump(e)
    assert not can_lump(group("grpo", 3))  # every arm has a reward of its own
    assert not can_lump(group("grpo", 3, SHARED).replace(optimiser=cm.ClipNorm(1)))
    by_arm = group("mean", 3, SHARED).replace(
        baseline=cm.baseline("pi[a]"), **{"estimator.weight": cm.weight("rho / (1 + max(A)**2)")}
    )
    assert not can_lump(by_arm)


def test_groups_of_many_arms() -> None:
    means = np.linspace(0.05, 0.5, 10)
    bandit = cm.Bandit(means, noise="bernoulli")
    p = float(means.mean())
    for samples in (8, 128):
        e = group("grpo", samples, bandit, [0] * 10)
        factor = cm.exact.flow(e) / ((means - p) / 10)
        counts = np.arange(samples + 1)
        law = multinomial(count_vectors(2, samples), np.array([p, 1 - p]))[::-1]
        share = counts / samples
        want = (law @ np.sqrt(share * (1 - share))) / (p * (1 - p))
        np.testing.assert_allclose(factor, want, rtol=1e-11)
        assert float(cm.exact.gradient_variance(e)) > 0.0


def test_too_many_outcomes_are_refused_with_their_number() -> None:
    e = group("grpo", 128, cm.Bandit([0.8, 0.5, 0.1], noise="bernoulli"))
    with pytest.raises(cm.ConfigError, match=r"samples = 128 .* 321402081"):
        cm.exact.one_step(e)
    e = group("grpo", 128, cm.Bandit([0.2, 0.8], noise="bernoulli"), (0, 0))
    with pytest.raises(cm.ConfigError, match=r"samples = 128 .* 1000 policies, 366145 outcomes"):
        cm.exact.one_step(e, theta=np.zeros((1000, 2)))


def test_counts_and_their_probabilities() -> None:
    counts = count_vectors(3, 4)
    assert len(counts) == math.comb(6, 2) < MOST_OUTCOMES
    assert (counts.sum(axis=1) == 4).all()
    p = np.array([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1e-300, 1e-200, 1.0]])
    found = multinomial(counts, p)
    want = [
        [math.factorial(4) / math.prod(map(math.factorial, c)) * np.prod(q**c) for c in counts]
        for q in p
    ]
    np.testing.assert_allclose(found, want, rtol=1e-14)
    # The two ways agree where they meet.
    for n in (1000, 1001):
        tail = multinomial(count_vectors(2, n), np.array([0.1, 0.9]))
        assert float(tail.sum()) == pytest.approx(1.0, abs=1e-12)
        mean = float(tail @ count_vectors(2, n)[:, 0])
        assert mean == pytest.approx(n / 10, rel=1e-11)
        certain = multinomial(count_vectors(2, n), np.array([[1.0, 0.0], [0.0, 1.0]]))
        np.testing.assert_array_equal(certain, np.eye(n + 1)[[0, n]])


@pytest.mark.parametrize(
    "formula", ["sum(R)", "mean(R)", "std(R)", "min(R)", "max(R)", "others(R, 'sum')",
                "others(R, 'mean')", "sum(pi[a] * R)", "mean(sum(onehot(a) * pi, over='arms'))"],
)  # fmt: skip
@pytest.mark.parametrize("written_out", [False, True])
def test_reductions_by_counts_are_those_of_the_samples(
    formula: str, written_out: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if written_out:  # as an operation that nobody has told about counts
        monkeypatch.setattr("committal.exact.counted._BY_COUNTS", {})
    tree = cm.baseline(formula).tree
    rng = np.random.default_rng(0)
    counts = count_vectors(3, 5)
    R, a, pi = np.array([[0.3, -2.0, 7.0]]), np.array([[0.0, 1.0, 1.0]]), rng.dirichlet([1, 1])
    found = over_counts(tree, {"R": R, "a": a, "pi": pi, "K": 2.0}, counts)
    for m, c in enumerate(counts):
        kinds = np.repeat(np.arange(3), c)
        want = tree.at({"R": R[0, kinds], "a": a[0, kinds], "pi": pi, "K": 2.0})
        if tree.result.shape == "sample":
            np.testing.assert_allclose(found[m][kinds], want, atol=1e-14)
        else:
            np.testing.assert_allclose(found[m], want, atol=1e-14)
