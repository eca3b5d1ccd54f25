"""Golden numbers: answers of other libraries' arithmetic, compared within a tolerance."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from golden_forms import policies_of
from golden_mdps import MDPS

import committal as cm

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
