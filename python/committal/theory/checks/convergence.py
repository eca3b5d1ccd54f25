"""Claims about where learning ends: bounds against exact answers against simulations."""

from __future__ import annotations

import numpy as np

from committal.config import (
    Decay,
    Experiment,
    Gap,
    MinVariance,
    OnPolicy,
    Record,
    Reduce,
    UniformMixture,
    Vanilla,
    keeps_exploring,
    robbins_monro,
)
from committal.exact import (
    committal_map,
    committal_probability,
    gradient_variance,
    minimum_variance_baseline,
    one_step_law,
)
from committal.theory.bounds import gap_bound, off_policy_bound, proposition_1_bound
from committal.theory.checks.settings import (
    THREE,
    random_policies,
    simulated_stuck,
    three_arms,
    two_arms,
)
from committal.theory.checks.table import Found, claim
from committal.theory.forced import committal_rate
from committal.theory.forever import same_action_forever
from committal.theory.regimes import two_arm_regime


@claim(
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
        experiment = two_arms(-1.0, alpha)
        forms = ("corrected", "printed", "sharp")
        bounds = {form: proposition_1_bound(-1.0, alpha, -1.0, form=form) for form in forms}
        product = same_action_forever(experiment, 1)
        exact, error = committal_probability(experiment, tolerance=1e-6, return_error=True)
        rate, sem = simulated_stuck(experiment, 1000, 60_000, rng)
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


@claim(
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
        experiment = two_arms(MinVariance() + c)
        stuck = committal_probability(experiment, tolerance=1e-4)
        values[f"c = {c:g}: P(stuck)"] = stuck
        held &= stuck > 0.01 and same_action_forever(experiment, 1).low > 0.0
        held &= two_arm_regime(experiment).outcome == "may end on the wrong arm"
    for c in (-0.9, -0.5, 0.0, 0.5, 0.9):
        experiment = two_arms(MinVariance() + c)
        ends = committal_map(experiment, tolerance=1e-4).probabilities()
        values[f"c = {c:g}: P(best arm)"] = float(ends[0])
        held &= abs(ends[0] - 1.0) < 1e-9 and ends[1] < 1e-9

    open_case = two_arms(MinVariance() - 1.0)
    values["c = -1: P(stuck for ever)"] = committal_probability(open_case, tolerance=1e-4)
    values["c = -1: P(suboptimal for ever)"] = float(same_action_forever(open_case, 1))
    for steps in (300, 3000):
        values[f"c = -1: stuck after {steps}"], _ = simulated_stuck(open_case, steps, 20_000, rng)
        held &= values[f"c = -1: stuck after {steps}"] > 0.01
    held &= values["c = -1: P(stuck for ever)"] == values["c = -1: P(suboptimal for ever)"] == 0.0

    above = two_arms(MinVariance() + 1.5)
    values["c = 1.5: P(ends on an arm)"] = float(committal_map(above).probabilities().sum())
    reached, left = _supremum(above, rng)
    values["c = 1.5: runs that reached theta > 5"] = reached
    values["c = 1.5: of these, back at theta < 2"] = left
    held &= values["c = 1.5: P(ends on an arm)"] == 0.0 and reached > 0.9 and left > 0.5
    return values, held


@claim(
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
        product = same_action_forever(three_arms(baseline, alpha=0.5), 1)
        values[f"P(arm 2 for ever), {name}, alpha = 0.5"] = float(product)
        held &= product.low > 0.0
    least, gap = three_arms(MinVariance(), 0.1), three_arms(Gap(), 0.1)
    values["Var at uniform, b*"] = float(gradient_variance(least))
    values["Var at uniform, gap"] = float(gradient_variance(gap))
    held &= values["Var at uniform, gap"] > values["Var at uniform, b*"]
    values["P(suboptimal), b* from (0, 3, 5)"] = committal_probability(
        three_arms(MinVariance(), 0.1, [0, 3, 5]), tolerance=1e-2
    )
    values["P(suboptimal), gap from (0, 3, 5)"] = committal_probability(
        three_arms(Gap(), 0.1, [0, 3, 5]), tolerance=1e-2
    )
    held &= values["P(suboptimal), b* from (0, 3, 5)"] > 0.01
    held &= values["P(suboptimal), gap from (0, 3, 5)"] < 1e-9
    raised = float(one_step_law(gap, policy=random_policies(400)).worsening_probability().max())
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


@claim(
    6,
    "Proposition 3: with importance sampling and t eps_t^2 -> infinity natural policy gradient "
    "converges even with the committal b = -1; exploration that decays faster can fail.",
    "slow decay: condition true, P(suboptimal for ever) = 0, Azuma's bound > 0.99 at t = 3e5, "
    "fewer stuck runs than a fifth of on-policy; fast decay: condition false, product > 0.05 and "
    "not more than the stuck runs + 4 standard errors",
)
def _proposition_3(rng: int) -> Found:
    slow, fast = Decay(1.0, 0.25), Decay(0.5, 1.5)
    on_policy = two_arms(-1.0, 0.15)
    kept = on_policy.replace(behaviour=UniformMixture(slow))
    lost = on_policy.replace(behaviour=UniformMixture(fast))
    product_kept, product_lost = (same_action_forever(e, 1) for e in (kept, lost))
    runs = 4_000
    stuck_on, _ = simulated_stuck(on_policy, 1000, runs, rng)
    stuck_kept, _ = simulated_stuck(kept, 10_000, runs, rng)
    stuck_lost, sem = simulated_stuck(lost, 2000, runs, rng)
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


@claim(
    7,
    "Vanilla policy gradient with Robbins-Monro steps converges on two arms whatever b, on- and "
    "off-policy, if slowly: 1 - pi falls like 1/t at best, so no arm is drawn for ever.",
    "committal rate within 0.02 of 1, product = 0, stuck runs fewer by a third at each of "
    "t = 100, 1000, 10,000, mean theta growing",
)
def _vanilla(rng: int) -> Found:
    from committal.simulation.run import run

    constant = two_arms(-1.0, update=Vanilla(step_size=0.5))
    rate = committal_rate(constant, 1, steps=20_000)
    values = {"committal rate, b = -1": float(rate.exponent[-1])}
    held = abs(values["committal rate, b = -1"] - 1.0) < 0.02 and rate.limit == 1.0
    held &= same_action_forever(constant, 1).high == 0.0
    steps = Decay(4.0, 0.75)
    held &= robbins_monro(steps) is True
    times = [100, 1000, 10_000]
    for name, behaviour in (("on-policy", OnPolicy()), ("off-policy", UniformMixture(0.5))):
        experiment = two_arms(
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
