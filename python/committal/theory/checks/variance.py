"""Claims about the variance and the mean of one update, by exact arithmetic."""

from __future__ import annotations

import numpy as np

from committal.config import (
    Direct,
    Experiment,
    MinVariance,
    Natural,
    Projected,
    Softmax,
    UniformMixture,
    Vanilla,
)
from committal.exact import (
    baseline_quadratic,
    gradient_moments,
    gradient_variance,
    log_variance_ratio,
    minimum_variance_baseline,
    one_step_law,
    simplex_grid,
    two_arm_variance,
    value_identity,
)
from committal.support.simplex import Floats
from committal.theory.checks.settings import THREE, random_policies, two_arms
from committal.theory.checks.table import Found, claim


@claim(
    1,
    "The variance is quadratic in b with its minimum at b*, so b* + c and b* - c have equal "
    "variance (vanilla and natural, each in its own metric).",
    "relative differences < 1e-9",
)
def _equal_variance(rng: int) -> Found:
    policies = random_policies(400)
    values: dict[str, float] = {}
    for name, update, metric in (
        ("vanilla", Vanilla(step_size=1.0), "gradient"),
        ("natural", Natural(step_size=1.0), "natural"),
    ):
        base = Experiment(THREE, Softmax(), update, steps=1)
        variance = {
            c: gradient_variance(base.replace(baseline=MinVariance(metric) + c), policy=policies)
            for c in (-0.5, 0.0, 0.5)
        }
        quadratic = baseline_quadratic(base, policy=policies)
        predicted = quadratic.curvature * 0.25 + quadratic.minimum
        best = minimum_variance_baseline(THREE.means, policies, metric=metric)
        values[f"{name}: Var(b* + 1/2) against Var(b* - 1/2)"] = _relative(
            variance[0.5], variance[-0.5]
        )
        values[f"{name}: Var(b* + 1/2) against the quadratic"] = _relative(variance[0.5], predicted)
        values[f"{name}: its minimiser against b*"] = _relative(quadratic.minimiser, best)
        values[f"{name}: Var(b*) against its minimum"] = _relative(
            variance[0.0] + predicted, quadratic.minimum + predicted
        )
    return values, max(values.values()) < 1e-9


@claim(
    2,
    "Two arms: Var[g] = (1 - p - b)^2 / (p (1 - p)), unbounded at the ends unless b = 1 - p, "
    "where it is 0 and both updates are +alpha.",
    "relative difference < 1e-9; > 1e6 at p = 1e-8; updates equal alpha to 1e-12",
)
def _two_arm_formula(rng: int) -> Found:
    p = np.linspace(0.01, 0.99, 99)
    policies = np.stack([p, 1.0 - p], axis=-1)
    worst = 0.0
    for b in (-1.0, 0.0, 0.3, 2.0):
        law = one_step_law(two_arms(b, alpha=1.0), policy=policies)
        enumerated = law.covariance()[:, 0, 0]
        worst = max(worst, _relative(enumerated + 1.0, two_arm_variance(p, b) + 1.0))
    edge = [[1e-8, 1.0 - 1e-8], [1.0 - 1e-8, 1e-8]]
    at_ends = gradient_variance(two_arms(-1.0), policy=edge)
    least = one_step_law(two_arms(MinVariance()), policy=policies)
    values = {
        "enumeration against the formula": worst,
        "least Var at the ends, b = -1": float(at_ends.min()),
        "Var at b = 1 - p": float(least.covariance().max()),
        "largest |update - alpha| at b = 1 - p": float(np.abs(least.update - 0.1).max()),
    }
    held = worst < 1e-9 and at_ends.min() > 1e6
    return values, bool(
        held
        and values["Var at b = 1 - p"] < 1e-20
        and values["largest |update - alpha| at b = 1 - p"] < 1e-12
    )


@claim(
    8,
    "V = b* - Cov(r, |grad log pi|^2) / E|grad log pi|^2; near good policies V > b*, so the value "
    "is the optimistic baseline.",
    "difference < 1e-12; V - b* > 0 wherever the best arm has 80 %",
)
def _value_baseline(rng: int) -> Found:
    policies = np.concatenate([random_policies(2000), simplex_grid(60)])
    terms = value_identity(THREE.means, policies)
    difference = terms.minimum_variance - terms.covariance_term - terms.value
    good = policies[:, 0] >= 0.8
    optimism = (terms.value - terms.minimum_variance)[good]
    values = {
        "largest difference of the two sides": float(np.abs(difference).max()),
        "least V - b* near the best arm": float(optimism.min()),
    }
    return values, bool(np.abs(difference).max() < 1e-12 and optimism.min() > 0.0)


@claim(
    9,
    "Sampling from pi/2 + 1/6 raises the variance in much of the simplex, up to the uniform "
    "policy, and lowers it near the corners, while b* lowers it everywhere (vanilla gradient).",
    "raised for over a quarter of the policies within 0.1 of uniform; log ratios > 0 where one arm "
    "has 98 %, and >= 0 everywhere for b*",
)
def _importance_sampling(rng: int) -> Found:
    plain = Experiment(THREE, Softmax(), Vanilla(step_size=1.0), steps=1)
    sampled = plain.replace(behaviour=UniformMixture(0.5))
    least = plain.replace(baseline=MinVariance())
    policies = simplex_grid(120)
    ratio = log_variance_ratio(plain, sampled, policy=policies)
    corners = policies.max(axis=1) >= 0.98
    gain = log_variance_ratio(plain, least, policy=policies)
    near = np.abs(policies - 1.0 / 3.0).sum(axis=1) / 2.0 <= 0.1
    values = {
        "IS: share of all policies with raised variance": float((ratio < 0.0).mean()),
        "IS: the same within 0.1 of uniform": float((ratio[near] < 0.0).mean()),
        "IS: least log Var(b = 0) / Var(IS) near the corners": float(ratio[corners].min()),
        "least log Var(b = 0) / Var(b*)": float(gain.min()),
        "largest log Var(b = 0) / Var(b*)": float(gain.max()),
    }
    held = (ratio[near] < 0.0).mean() > 0.25 and ratio[corners].min() > 0.0
    return values, bool(held and gain.min() >= -1e-12 and gain.max() > 0.1)


@claim(
    11,
    "Baselines do not bias the expected change: vanilla exactly, natural up to a shift along "
    "(1, ..., 1), direct policies only without projection.",
    "differences < 1e-10 relative; with projection > 1e-3",
)
def _unbiased(rng: int) -> Found:
    policies = random_policies(400)
    b = MinVariance() - 2.0
    values: dict[str, float] = {}
    vanilla = Experiment(THREE, Softmax(), Vanilla(step_size=1.0), b, steps=1)
    r = np.array(THREE.means)
    gradient = policies * (r - (policies @ r)[:, None])
    values["vanilla: E[g] against the gradient"] = float(
        np.abs(one_step_law(vanilla, policy=policies).mean() - gradient).max()
    )
    natural = vanilla.replace(update=Natural(step_size=1.0))
    mean = gradient_moments(natural, policy=policies, visible=False).mean
    values["natural: E[g] against r, without the shift"] = float(
        np.abs((mean - r) - (mean - r).mean(axis=1, keepdims=True)).max()
    )
    direct = Experiment(THREE, Direct(), Projected(step_size=1e-3), b, steps=1)
    inside = 0.5 * policies + 1.0 / 6.0
    shift = one_step_law(direct, policy=inside).mean()
    values["direct, small steps: E[change] against the gradient"] = float(
        np.abs(shift - 1e-3 * (r - r.mean())).max()
    )
    far = direct.replace(update=Projected(step_size=1.0))
    biased = one_step_law(far, policy=inside).mean("policy")
    plain = one_step_law(far.replace(baseline=0.0), policy=inside).mean("policy")
    values["direct, projected: largest effect of b"] = float(np.abs(biased - plain).max())
    *exact, projected = values.values()
    return values, max(exact) < 1e-10 and projected > 1e-3


def _relative(x: Floats, y: Floats) -> float:
    """The largest difference relative to the size of the two."""
    return float((np.abs(x - y) / np.maximum(np.abs(x), np.abs(y))).max())
