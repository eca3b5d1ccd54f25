r"""Every claim of the paper that can be computed, computed.

Each claim is a function that recomputes what the paper says, in exact arithmetic where there is
an exact answer and by simulation where there is none, and returns the numbers with a verdict. A
claim that does not hold says so: the verdict is False, and the numbers show by how much.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from committal.config import (
    Bandit,
    Baseline,
    Decay,
    Direct,
    Experiment,
    Gap,
    MinVariance,
    Natural,
    OnPolicy,
    Projected,
    Record,
    Reduce,
    Sigmoid,
    Softmax,
    UniformMixture,
    Vanilla,
    keeps_exploring,
    robbins_monro,
)
from committal.errors import ConfigError
from committal.exact import (
    baseline_quadratic,
    committal_map,
    committal_probability,
    gradient_moments,
    gradient_variance,
    log_variance_ratio,
    minimum_variance_baseline,
    one_step_law,
    simplex_grid,
    two_arm_variance,
    value_identity,
)
from committal.support.check import Number
from committal.support.simplex import Floats
from committal.theory.bounds import gap_bound, off_policy_bound, proposition_1_bound
from committal.theory.forced import committal_rate
from committal.theory.forever import same_action_forever
from committal.theory.regimes import two_arm_regime

TWO = Bandit([1.0, 0.0])
THREE = Bandit([1.0, 0.7, 0.0])


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim, recomputed.

    Attributes
    ----------
    id : int
        Its number in the documentation.
    statement : str
        What is claimed.
    values : dict of str to float
        What was computed.
    tolerance : str
        What the values are held against.
    verdict : bool
        Whether the claim holds.
    seconds : float
        How long it took.
    """

    id: int
    statement: str
    values: dict[str, float]
    tolerance: str
    verdict: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class ClaimTable(Sequence[Claim]):
    """Claims in order; prints as a table.

    Attributes
    ----------
    rows : tuple of Claim

    Examples
    --------
    >>> table = claims([2])
    >>> table[0].verdict, len(table)
    (True, 1)
    """

    rows: tuple[Claim, ...]

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def verdict(self) -> bool:
        """Whether all of them hold."""
        return all(row.verdict for row in self.rows)

    def __str__(self) -> str:
        lines = []
        for row in self.rows:
            mark = "holds" if row.verdict else "FAILS"
            lines.append(f"{row.id:>2}  {mark}  {row.seconds:5.1f} s  {row.statement}")
            lines += [f"      {name}: {value:.6g}" for name, value in row.values.items()]
            lines.append(f"      held against: {row.tolerance}")
        total = sum(row.seconds for row in self.rows)
        good = sum(row.verdict for row in self.rows)
        lines.append(f"{good} of {len(self.rows)} claims hold, {total:.1f} s")
        return "\n".join(lines)


#: What a check returns: computed values and whether the claim holds.
Found = tuple[dict[str, float], bool]


@dataclass(frozen=True, slots=True)
class _Check:
    statement: str
    tolerance: str
    compute: Callable[[int], Found]


_CHECKS: dict[int, _Check] = {}


def _claim(number: int, statement: str, tolerance: str) -> Callable[..., Callable[[int], Found]]:
    def register(compute: Callable[[int], Found]) -> Callable[[int], Found]:
        _CHECKS[number] = _Check(statement, tolerance, compute)
        return compute

    return register


def claims(ids: Sequence[int] | None = None, *, rng: int = 0) -> ClaimTable:
    """Recompute the claims of the paper.

    Parameters
    ----------
    ids : sequence of int, optional
        Which; all by default. Claims 10, 12 and 13 are about whole learning curves and are not
        among them.
    rng : int, optional
        Seed of the simulations that some claims are compared with.

    Returns
    -------
    ClaimTable
        Prints as a table; all of them take well under a minute.

    Examples
    --------
    >>> print(claims([8]))  # doctest: +ELLIPSIS
     8  holds ...
    1 of 1 claims hold, ... s
    """
    wanted = sorted(_CHECKS) if ids is None else list(ids)
    for number in wanted:
        if number not in _CHECKS:
            raise ConfigError("ids", ids, f"numbers among {sorted(_CHECKS)}")
    if isinstance(rng, bool) or not isinstance(rng, int) or rng < 0:
        raise ConfigError("rng", rng, "an integer >= 0")
    return ClaimTable(tuple(_recompute(wanted, rng)))


def _recompute(wanted: list[int], rng: int) -> Iterator[Claim]:
    for number in wanted:
        check = _CHECKS[number]
        start = time.perf_counter()
        values, verdict = check.compute(rng)
        seconds = time.perf_counter() - start
        yield Claim(number, check.statement, values, check.tolerance, bool(verdict), seconds)


# -- experiments -----------------------------------------------------------------------------------


def _two_arms(
    baseline: Baseline | Number, alpha: float | Decay = 0.1, theta0: float = -1.0, **parts: Any
) -> Experiment:
    parts.setdefault("steps", 1)
    update = parts.pop("update", Natural(step_size=alpha))
    return Experiment(TWO, Sigmoid(theta0), update, baseline, **parts)


def _three_arms(
    baseline: Baseline | Number, alpha: float = 0.025, start: Sequence[float] | None = None
) -> Experiment:
    return Experiment(THREE, Softmax(start), Natural(step_size=alpha), baseline, steps=1)


def _stuck(experiment: Experiment, steps: int, runs: int, rng: int) -> tuple[float, float]:
    """The simulated fraction of runs whose value is below 1/2, and its standard error."""
    from committal.simulation.run import run

    record = Record("value", reduce=Reduce(below=0.5))
    data = run(experiment.replace(steps=steps, record=record), runs=runs, rng=rng)
    rate = float(data["failures"].values[-1]) / runs
    return rate, float(np.sqrt(max(rate * (1.0 - rate), 1.0 / runs) / runs))


def _policies(count: int) -> Floats:
    return np.random.default_rng(0).dirichlet(np.ones(3), count)


# -- claims ----------------------------------------------------------------------------------------


@_claim(
    1,
    "The variance is quadratic in b with its minimum at b*, so b* + c and b* - c have equal "
    "variance (vanilla and natural, each in its own metric).",
    "relative differences < 1e-9",
)
def _equal_variance(rng: int) -> Found:
    policies = _policies(400)
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


@_claim(
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
        law = one_step_law(_two_arms(b, alpha=1.0), policy=policies)
        enumerated = law.covariance()[:, 0, 0]
        worst = max(worst, _relative(enumerated + 1.0, two_arm_variance(p, b) + 1.0))
    edge = [[1e-8, 1.0 - 1e-8], [1.0 - 1e-8, 1e-8]]
    at_ends = gradient_variance(_two_arms(-1.0), policy=edge)
    least = one_step_law(_two_arms(MinVariance()), policy=policies)
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


@_claim(
    3,
    "Proposition 1, b = -1, theta0 = -1: bound <= P(suboptimal for ever) <= stuck runs, which is "
    "why regret is linear.",
    "bound <= product <= exact; simulation within 4 standard errors of exact; regret per update "
    ">= product",
)
def _proposition_1(rng: int) -> Found:
    from committal.simulation.run import run

    values: dict[str, float] = {}
    held = True
    for alpha in (0.05, 0.1, 0.15):
        experiment = _two_arms(-1.0, alpha)
        forms = ("corrected", "printed", "sharp")
        bounds = {form: proposition_1_bound(-1.0, alpha, -1.0, form=form) for form in forms}
        product = same_action_forever(experiment, 1)
        exact, error = committal_probability(experiment, tolerance=1e-6, return_error=True)
        rate, sem = _stuck(experiment, 1000, 60_000, rng)
        record = Record("regret", at=[200, 400], reduce=Reduce())
        regret = run(experiment.replace(steps=400, record=record), runs=20_000, rng=rng)
        early, late = (float(x) for x in regret["regret_mean"].values)
        slope = (late - early) / 200.0
        values |= {
            f"alpha {alpha}: bound": bounds["sharp"],
            f"alpha {alpha}: product": float(product),
            f"alpha {alpha}: exact": exact,
            f"alpha {alpha}: simulated": rate,
            f"alpha {alpha}: regret per update": slope,
        }
        held &= 0.0 < max(bounds.values()) <= product.low and product.high <= exact + error
        held &= abs(rate - exact) < 4.0 * sem + error and slope >= product.low
    return values, held


@_claim(
    4,
    "Proposition 2, b = b* + c on two arms: c < -1 can get stuck, |c| < 1 converges, c >= 1 only "
    "lets sup theta grow; at c = -1, left open by the paper, no run is stuck for ever but some "
    "are for any time one waits.",
    "exact probabilities > 0.01, = 0, and no end at all; at c = -1 exactly 0 though > 1 % of the "
    "simulated runs are stuck after 300 and after 3000 updates",
)
def _proposition_2(rng: int) -> Found:
    values: dict[str, float] = {}
    held = True
    for c in (-2.0, -1.5, -1.1):
        experiment = _two_arms(MinVariance() + c)
        stuck = committal_probability(experiment, tolerance=1e-4)
        values[f"c = {c:g}: P(stuck)"] = stuck
        held &= stuck > 0.01 and same_action_forever(experiment, 1).low > 0.0
        held &= two_arm_regime(experiment).outcome == "may end on the wrong arm"
    for c in (-0.9, -0.5, 0.0, 0.5, 0.9):
        experiment = _two_arms(MinVariance() + c)
        ends = committal_map(experiment, tolerance=1e-4).probabilities()
        values[f"c = {c:g}: P(best arm)"] = float(ends[0])
        held &= abs(ends[0] - 1.0) < 1e-9 and ends[1] < 1e-9

    open_case = _two_arms(MinVariance() - 1.0)
    values["c = -1: P(stuck for ever)"] = committal_probability(open_case, tolerance=1e-4)
    values["c = -1: P(suboptimal for ever)"] = float(same_action_forever(open_case, 1))
    for steps in (300, 3000):
        values[f"c = -1: stuck after {steps}"], _ = _stuck(open_case, steps, 20_000, rng)
        held &= values[f"c = -1: stuck after {steps}"] > 0.01
    held &= values["c = -1: P(stuck for ever)"] == values["c = -1: P(suboptimal for ever)"] == 0.0

    above = _two_arms(MinVariance() + 1.5)
    values["c = 1.5: P(ends on an arm)"] = float(committal_map(above).probabilities().sum())
    reached, left = _supremum(above, rng)
    values["c = 1.5: runs that reached theta > 5"] = reached
    values["c = 1.5: of these, back at theta < 2"] = left
    held &= values["c = 1.5: P(ends on an arm)"] == 0.0 and reached > 0.9 and left > 0.5
    return values, held


@_claim(
    5,
    "Theorem 1 on (1, 0.7, 0): b* is about 0.57 at the uniform policy, and arm 2 is repeated for "
    "ever with positive probability in all metrics; a gap baseline has larger variance there and "
    "always converges.",
    "|b* - 0.5667| < 1e-4; products > 0; exact P(suboptimal) = 0 with the gap baseline; "
    "simulation above Azuma's bound",
)
def _theorem_1(rng: int) -> Found:
    from committal.simulation.run import run

    metrics = {
        "gradient": MinVariance(),
        "natural": MinVariance("natural"),
        "natural, lambda = 1": MinVariance("natural", lam=1.0),
    }
    uniform = np.full(3, 1.0 / 3.0)
    values = {"b* at the uniform policy": float(minimum_variance_baseline(THREE.means, uniform))}
    held = abs(values["b* at the uniform policy"] - 0.5667) < 1e-4
    for name, baseline in metrics.items():
        product = same_action_forever(_three_arms(baseline, alpha=0.5), 1)
        values[f"P(arm 2 for ever), {name}, alpha = 0.5"] = float(product)
        held &= product.low > 0.0
    least, gap = _three_arms(MinVariance(), 0.1), _three_arms(Gap(), 0.1)
    values["Var at uniform, b*"] = float(gradient_variance(least))
    values["Var at uniform, gap"] = float(gradient_variance(gap))
    held &= values["Var at uniform, gap"] > values["Var at uniform, b*"]
    values["P(suboptimal), b* from (0, 3, 5)"] = committal_probability(
        _three_arms(MinVariance(), 0.1, [0, 3, 5]), tolerance=1e-2
    )
    values["P(suboptimal), gap from (0, 3, 5)"] = committal_probability(
        _three_arms(Gap(), 0.1, [0, 3, 5]), tolerance=1e-2
    )
    held &= values["P(suboptimal), b* from (0, 3, 5)"] > 0.01
    held &= values["P(suboptimal), gap from (0, 3, 5)"] < 1e-9
    raised = float(one_step_law(gap, policy=_policies(400)).worsening_probability().max())
    values["gap: P(a step lowers the best arm)"] = raised
    held &= raised == 0.0
    for t in (50, 200):
        bound = gap_bound(gap, t)
        data = run(gap.replace(steps=t, record=Record("theta")), runs=20_000, rng=rng)
        grown = float((data["theta"].values[:, -1, 0] > 0.1 * 0.15 * t / 2.0).mean())
        values[f"gap: bound of P(theta_1 grew), t = {t}"] = bound
        values[f"gap: simulated, t = {t}"] = grown
        held &= grown >= bound
    return values, held


@_claim(
    6,
    "Proposition 3: with importance sampling and t eps_t^2 -> infinity natural policy gradient "
    "converges even with the committal b = -1; exploration that decays faster can fail.",
    "slow decay: condition true, P(suboptimal for ever) = 0, Azuma's bound > 0.99 at t = 3e5, "
    "fewer stuck runs than a fifth of on-policy; fast decay: condition false, product > 0.05 and "
    "not more than the stuck runs + 4 standard errors",
)
def _proposition_3(rng: int) -> Found:
    slow, fast = Decay(1.0, 0.25), Decay(0.5, 1.5)
    on_policy = _two_arms(-1.0, 0.15)
    kept = on_policy.replace(behaviour=UniformMixture(slow))
    lost = on_policy.replace(behaviour=UniformMixture(fast))
    product_kept, product_lost = (same_action_forever(e, 1) for e in (kept, lost))
    runs = 4_000
    stuck_on, _ = _stuck(on_policy, 1000, runs, rng)
    stuck_kept, _ = _stuck(kept, 10_000, runs, rng)
    stuck_lost, sem = _stuck(lost, 2000, runs, rng)
    values = {
        "slow: P(suboptimal for ever)": float(product_kept),
        "slow: Azuma's bound at t = 3e5": off_policy_bound(kept, 300_000),
        "slow: stuck after 10,000": stuck_kept,
        "on-policy: stuck after 1000": stuck_on,
        "fast: P(suboptimal for ever)": float(product_lost),
        "fast: stuck after 2000": stuck_lost,
    }
    held = keeps_exploring(slow) is True and keeps_exploring(fast) is False
    held &= product_kept.high == 0.0 and values["slow: Azuma's bound at t = 3e5"] > 0.99
    held &= stuck_kept < stuck_on / 5.0
    held &= product_lost.low > 0.05 and product_lost.low <= stuck_lost + 4.0 * sem
    return values, held


@_claim(
    7,
    "Vanilla policy gradient with Robbins-Monro steps converges on two arms whatever b, on- and "
    "off-policy, if slowly: 1 - pi falls like 1/t at best, so no arm is drawn for ever.",
    "committal rate within 0.02 of 1, product = 0, stuck runs fewer by a third at each of "
    "t = 100, 1000, 10,000, mean theta growing",
)
def _vanilla(rng: int) -> Found:
    from committal.simulation.run import run

    constant = _two_arms(-1.0, update=Vanilla(step_size=0.5))
    rate = committal_rate(constant, 1, steps=20_000)
    values = {"committal rate, b = -1": float(rate.exponent[-1])}
    held = abs(values["committal rate, b = -1"] - 1.0) < 0.02 and rate.limit == 1.0
    held &= same_action_forever(constant, 1).high == 0.0
    steps = Decay(4.0, 0.75)
    held &= robbins_monro(steps) is True
    times = [100, 1000, 10_000]
    for name, behaviour in (("on-policy", OnPolicy()), ("off-policy", UniformMixture(0.5))):
        experiment = _two_arms(
            -1.0,
            update=Vanilla(step_size=steps),
            behaviour=behaviour,
            steps=times[-1],
            record=Record("value", "theta", at=times, reduce=Reduce(below=0.5)),
        )
        data = run(experiment, runs=4_000, rng=rng)
        stuck = data["failures"].values / 4_000
        theta = data["theta_mean"].values.ravel()
        for t, x in zip(times, stuck, strict=True):
            values[f"{name}: below 1/2 at t = {t}"] = float(x)
        held &= bool((stuck[1:] <= stuck[:-1] / 1.5 + 1e-3).all() and (np.diff(theta) > 0.0).all())
    return values, held


@_claim(
    8,
    "V = b* - Cov(r, |grad log pi|^2) / E|grad log pi|^2; near good policies V > b*, so the value "
    "is the optimistic baseline.",
    "difference < 1e-12; V - b* > 0 wherever the best arm has 80 %",
)
def _value_baseline(rng: int) -> Found:
    policies = np.concatenate([_policies(2000), simplex_grid(60)])
    terms = value_identity(THREE.means, policies)
    difference = terms.minimum_variance - terms.covariance_term - terms.value
    good = policies[:, 0] >= 0.8
    optimism = (terms.value - terms.minimum_variance)[good]
    values = {
        "largest difference of the two sides": float(np.abs(difference).max()),
        "least V - b* near the best arm": float(optimism.min()),
    }
    return values, bool(np.abs(difference).max() < 1e-12 and optimism.min() > 0.0)


@_claim(
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


@_claim(
    11,
    "Baselines do not bias the expected change: vanilla exactly, natural up to a shift along "
    "(1, ..., 1), direct policies only without projection.",
    "differences < 1e-10 relative; with projection > 1e-3",
)
def _unbiased(rng: int) -> Found:
    policies = _policies(400)
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


def _supremum(experiment: Experiment, rng: int) -> tuple[float, float]:
    """Fractions of runs that reached theta > 5, and of these the ones seen below 2 later."""
    from committal.simulation.run import run

    record = Record("theta", every=10)
    data = run(experiment.replace(steps=5000, record=record), runs=400, rng=rng)
    theta = data["theta"].values.reshape(400, -1)
    high = theta > 5.0
    reached = high.any(axis=1)
    # Once above 5, the smallest theta from then on.
    after = np.where(np.cumsum(high, axis=1) > 0, theta, np.inf).min(axis=1)
    return float(reached.mean()), float((after[reached] < 2.0).mean()) if reached.any() else 0.0
