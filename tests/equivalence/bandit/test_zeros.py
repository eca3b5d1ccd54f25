"""Arms that a projection has ruled out are at 0, in the engine and in the oracle, not at 1e-17.

Baselines of the natural metric weigh by 1 / pi: an arm that rounding leaves at 1e-17 would be all
that counts. The truth here is the same run with sixty digits, from the engine's actions.
"""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest

import committal as cm
from committal import reference

Digits = list[Decimal]
NOTHING = Decimal("1e-45")


def project(x: Digits) -> Digits:
    total, shift = Decimal(0), Decimal(0)
    for n, entry in enumerate(sorted(x, reverse=True), 1):
        total += entry
        if entry > (total - 1) / n:
            shift = (total - 1) / n
    return [Decimal(0) if entry - shift < NOTHING else entry - shift for entry in x]


def natural_baseline(pi: Digits, r: Digits, lam: Decimal) -> Decimal:
    """The limit of sum w r / sum w, w = K lam^2 pi + 2 lam + 1/pi, where some pi are 0."""
    ruled_out = [reward for p, reward in zip(pi, r, strict=True) if p == 0]
    if ruled_out:
        return sum(ruled_out, Decimal(0)) / len(ruled_out)
    w = [len(pi) * lam**2 * p + 2 * lam + 1 / p for p in pi]
    return sum((a * b for a, b in zip(w, r, strict=True)), Decimal(0)) / sum(w, Decimal(0))


@pytest.mark.parametrize("arms", [5, 75, 128])
@pytest.mark.parametrize("step_size", [1 / 64, 0.01, 0.25])
@pytest.mark.parametrize(("lam", "mixed"), [(0.5, 1.0), (2.0, 0.5), (0.0, 1.0)])
def test_what_is_ruled_out_is_at_zero(
    arms: int, step_size: float, lam: float, mixed: float
) -> None:
    rng = np.random.default_rng([arms, round(1000 * step_size), round(10 * lam)])
    means = rng.choice([0.0, 0.3, 1.0], arms)
    experiment = cm.Experiment(
        cm.Bandit(means),
        cm.Direct(),
        cm.Projected(step_size),
        baseline=cm.MinVariance("natural", lam=lam),
        behaviour=cm.UniformMixture(mixed),
        steps=40,
        record=cm.Record("baseline", "policy", "action", every=1),
    )
    found = cm.run(experiment, runs=3, rng=0)
    for run in range(3):
        pi, b, actions = (found[name].values[run] for name in ("policy", "baseline", "action"))
        oracle = reference.simulate(experiment, key=int(found.attrs["key"], 16), run=run)
        assert (oracle["action"][:, 0] == actions).all()
        with localcontext() as context:
            context.prec = 60
            r = [Decimal(float(mean)) for mean in means]
            p = [1 / Decimal(arms)] * arms
            for t, action in enumerate(actions[:-1]):
                truth = natural_baseline(p, r, Decimal(lam))
                zeros = [x == 0 for x in p]
                assert ((pi[t] == 0.0) == zeros).all(), t
                assert ((oracle["policy"][t] == 0.0) == zeros).all(), t
                assert b[t] == pytest.approx(float(truth), abs=1e-6), t
                assert oracle["baseline"][t] == pytest.approx(float(truth), abs=1e-6), t
                mu = (1 - Decimal(mixed)) * p[action] + Decimal(mixed) / arms
                p[action] += Decimal(step_size) * (r[action] - truth) / mu
                p = project(p)


@pytest.mark.parametrize("arms", [3, 8, 9, 20])
@pytest.mark.parametrize("samples", [1, 3])
def test_formulas_see_large_numbers_of_arms_that_have_underflowed(arms: int, samples: int) -> None:
    """Off the policy an arm of probability 0 is drawn. rho/pi is never 0 times infinity."""
    e = cm.Experiment(
        cm.Bandit(np.linspace(1.0, 0.5, arms)), cm.Softmax([0.0, 800.0, *np.zeros(arms - 2)]),
        cm.update("A * rho * natural")(0.1), behaviour=cm.UniformMixture(0.5), steps=20,
        estimator=cm.OneSample(samples=samples), record=cm.Record("theta"),
    )  # fmt: skip
    moved = cm.run(e, runs=9, rng=1)["theta"].isel(time=-1).values - e.policy.start(arms)
    assert (moved[:, 0] > 0.0).any()
    assert ((moved >= 0.0) & (moved <= 20 * 0.1 * 2 * arms + 1e-9)).all()
