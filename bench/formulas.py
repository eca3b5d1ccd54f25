"""Time formulas against the run with the native part, and against the same rule in plain Numba.

    python bench/formulas.py                       everything, two threads
    python bench/formulas.py --only Adam --quick   some of it, roughly
    python bench/formulas.py --cpu --json out.json

Four rules, each for 3, 10 and 100 arms and on every instruction set: a baseline (the one of minimum
variance, against the native one), another (that of the policy's collisions, against the value), a
weight (tapered, against none) and Adam (against the plain optimiser). And groups of eight samples
on three arms, with their mean and standard deviation, against eight samples with the value as
baseline. Everybody answers first, and the answers must agree; then they take turns (timing.py). The
table at the end is that of docs/formulas.md.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import compare
import numba
import numpy as np
from peers import Choice, Floats, softmax, value
from rows import Contest, Floor, Setting
from settings import OUR_RUNS, Case
from timing import Contestant, Times

import committal as cm
from committal import _core

ARMS = (3, 10, 100)
NATIVE = "native {isa}"
FORMULA = "formula {isa}"
#: At most so many times as long as the native part, so many times as fast as Numba.
MOST_OVER_NATIVE = 2.0
LEAST_OVER_NUMBA = 6.0
#: Groups are wanted faster still; what they add to eight plain samples is not bounded.
GROUP = 8
LEAST_OF_GROUPS = 8.0

# ------------------------------------------------------------------------------ as formulas


@cm.baseline
def least_variance(pi: Any, r: Any) -> Any:
    """The mean reward of an arm, weighted by the square of its score."""
    w = pi * (1 - 2 * pi + (pi**2).sum())
    return (w * r).sum() / w.sum()


@cm.baseline
def collision(pi: Any, r: Any) -> Any:
    """The mean reward of an arm that was drawn twice."""
    w = pi**2
    return (w * r).sum() / w.sum()


@cm.weight
def tapered(A: Any, rho: Any, *, top: float = 1.0) -> Any:
    """1 for good news, else the ratio up to a bound."""
    return cm.where(A > 0, 1, cm.minimum(rho, top))


# -------------------------------------------------------------------------- in plain Numba


@numba.njit
def _drawn(pi: Floats) -> int:
    u = np.random.random()  # noqa: NPY002
    a = 0
    cumulative = pi[0]
    while u >= cumulative and a < pi.size - 1:
        a += 1
        cumulative += pi[a]
    return a


@numba.njit(parallel=True)
def numba_least_variance(r, theta0, alpha, steps, runs):  # type: ignore[no-untyped-def]
    final = np.empty(runs)
    for run in numba.prange(runs):
        theta, pi = theta0.copy(), np.empty(r.size)
        for _ in range(steps):
            softmax(theta, pi)
            square = 0.0
            for i in range(r.size):
                square += pi[i] * pi[i]
            above = 0.0
            below = 0.0
            for i in range(r.size):
                w = pi[i] * (1.0 - 2.0 * pi[i] + square)
                above += w * r[i]
                below += w
            a = _drawn(pi)
            theta[a] += alpha * (r[a] - above / below) / pi[a]
        softmax(theta, pi)
        final[run] = value(pi, r)
    return final


@numba.njit(parallel=True)
def numba_collision(r, theta0, alpha, steps, runs):  # type: ignore[no-untyped-def]
    final = np.empty(runs)
    for run in numba.prange(runs):
        theta, pi = theta0.copy(), np.empty(r.size)
        for _ in range(steps):
            softmax(theta, pi)
            above = 0.0
            below = 0.0
            for i in range(r.size):
                w = pi[i] * pi[i]
                above += w * r[i]
                below += w
            a = _drawn(pi)
            theta[a] += alpha * (r[a] - above / below) / pi[a]
        softmax(theta, pi)
        final[run] = value(pi, r)
    return final


@numba.njit(parallel=True)
def numba_tapered(r, theta0, alpha, steps, runs):  # type: ignore[no-untyped-def]
    final = np.empty(runs)
    for run in numba.prange(runs):
        theta, pi = theta0.copy(), np.empty(r.size)
        for _ in range(steps):
            softmax(theta, pi)
            a = _drawn(pi)
            advantage = r[a] - value(pi, r)
            rho = pi[a] / pi[a]
            w = 1.0 if advantage > 0.0 else min(rho, 1.0)
            theta[a] += alpha * w * advantage / pi[a]
        softmax(theta, pi)
        final[run] = value(pi, r)
    return final


@numba.njit(parallel=True)
def numba_adam(r, theta0, alpha, steps, runs):  # type: ignore[no-untyped-def]
    final = np.empty(runs)
    for run in numba.prange(runs):
        theta, pi = theta0.copy(), np.empty(r.size)
        m, v = np.zeros(r.size), np.zeros(r.size)
        for t in range(steps):
            softmax(theta, pi)
            a = _drawn(pi)
            advantage = r[a] - value(pi, r)
            left1 = 1.0 - 0.9 ** (t + 1)
            left2 = 1.0 - 0.999 ** (t + 1)
            for i in range(r.size):
                g = advantage * ((1.0 if i == a else 0.0) - pi[i])
                m[i] = 0.9 * m[i] + (1.0 - 0.9) * g
                v[i] = 0.999 * v[i] + (1.0 - 0.999) * g * g
                theta[i] += alpha * (m[i] / left1) / (np.sqrt(v[i] / left2) + 1e-8)
        softmax(theta, pi)
        final[run] = value(pi, r)
    return final


@numba.njit(parallel=True)
def numba_group(r, theta0, alpha, steps, runs):  # type: ignore[no-untyped-def]
    final = np.empty(runs)
    for run in numba.prange(runs):
        theta, pi = theta0.copy(), np.empty(r.size)
        action, reward, g = np.empty(GROUP, np.int64), np.empty(GROUP), np.empty(r.size)
        for _ in range(steps):
            softmax(theta, pi)
            mean = 0.0
            for i in range(GROUP):
                action[i] = _drawn(pi)
                reward[i] = r[action[i]]
                mean += reward[i] / GROUP
            spread = 0.0
            for i in range(GROUP):
                spread += (reward[i] - mean) ** 2 / GROUP
            if reward.max() == reward.min():
                continue
            spread = np.sqrt(spread)
            g[:] = 0.0
            for i in range(GROUP):
                along = (reward[i] - mean) / spread / GROUP
                for k in range(r.size):
                    g[k] -= along * pi[k]
                g[action[i]] += along
            for k in range(r.size):
                theta[k] += alpha * g[k]
        softmax(theta, pi)
        final[run] = value(pi, r)
    return final


# -------------------------------------------------------------------------------- the rows


@dataclass(frozen=True, slots=True)
class Rule:
    """A formula in an experiment, the experiment without it, and the same by somebody else."""

    name: str
    update: str
    changes: dict[str, Any]
    peer: Callable[..., Floats]
    step_size: float | None = None  # that of the case by default
    native: dict[str, Any] = field(default_factory=dict)  # what the native run has instead
    arms: tuple[int, ...] = ARMS
    least: float = LEAST_OVER_NUMBA
    bounded: bool = True  # against the native run, with the fewest arms ...
    everywhere: bool = False  # ... or with any: if the native part does the same work

    def contest(self, arms: int) -> Contest:
        """The work of everybody, and what is wanted."""
        floors = [Floor("Numba", FORMULA, self.least, self.least)]
        bounded = self.everywhere or (self.bounded and arms == min(ARMS))
        most = MOST_OVER_NATIVE if bounded else None
        floors.insert(0, Floor(FORMULA, NATIVE, most, most, at_most=True))
        case = Case(Choice(self.update, "value"), arms)
        alpha = case.alpha if self.step_size is None else self.step_size
        plain = case.experiment().replace(**{"update.step_size": alpha})
        native, formula = plain.replace(**self.native), plain.replace(**self.changes)

        def contestants(setting: Setting) -> dict[str, Contestant]:
            steps, runs = case.size
            found = {}
            # The formula first: it is what Numba's answers are compared with.
            for form, experiment in ((FORMULA, formula), (NATIVE, native)):
                for isa in setting.isas:
                    count = max(round(runs * OUR_RUNS[isa] * setting.scale / 256), 1) * 256
                    work = _ours(experiment, isa, setting.threads, count, answers=form == FORMULA)
                    name = form.format(isa=isa)
                    found[name] = Contestant(work, count * steps, setting.threads)
            count = max(int(runs * setting.scale), 64)
            found["Numba"] = Contestant(
                lambda: self.peer(case.means, case.start, alpha, steps, count),
                count * steps,
                setting.threads,
            )
            return found

        return Contest(f"{self.name}, K={arms}", contestants, tuple(floors))


def _ours(
    experiment: cm.Experiment, isa: str, threads: int, runs: int, *, answers: bool
) -> Callable[[], Floats | None]:
    def work() -> Floats | None:
        data = cm.run(experiment, runs=runs, rng=0, threads=threads, isa=isa)
        return np.asarray(data["value"].values[:, -1]) if answers else None

    return work


RULES = (
    Rule(
        "baseline (minimum variance)",
        "natural",
        {"baseline": least_variance},
        numba_least_variance,
        native={"baseline": cm.MinVariance()},
        everywhere=True,
    ),
    Rule("baseline (collision)", "natural", {"baseline": collision}, numba_collision),
    Rule("weight (tapered)", "natural", {"estimator": cm.OneSample(weight=tapered)}, numba_tapered),
    Rule("Adam", "vanilla", {"optimiser": cm.Adam()}, numba_adam, step_size=0.02),
    Rule(
        f"group of {GROUP} with std",
        "vanilla",
        {"estimator": cm.Group(GROUP, scale="std"), "baseline": 0.0},
        numba_group,
        step_size=0.02,
        native={"estimator": cm.OneSample(GROUP)},
        arms=(3,),
        least=LEAST_OF_GROUPS,
        bounded=False,
    ),
)


def contests() -> list[Contest]:
    """Every rule with every number of arms."""
    return [rule.contest(arms) for rule in RULES for arms in rule.arms]


def table(measured: dict[str, dict[str, Times]], isas: list[str]) -> str:
    """What was found, as docs/formulas.md shows it: against native, against Numba."""
    lines = ["| | " + " | ".join(f"K = {arms}" for arms in ARMS) + " |",
             "|---|" + "---|" * len(ARMS)]  # fmt: skip
    for rule in RULES:
        for isa in isas:
            cells = []
            for arms in ARMS:
                times = measured.get(f"{rule.name}, K={arms}")
                if times is None:
                    cells.append("")
                    continue
                own = times[FORMULA.format(isa=isa)].best
                slower, faster = own / times[NATIVE.format(isa=isa)].best, times["Numba"].best / own
                cells.append(f"{own * 1e9:.3g} ns, {slower:.1f}×, {faster:.1f}×")
            lines.append(f"| {rule.name}, {isa} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    parser = compare.parser_of(__doc__)
    parser.add_argument("--scale", type=float, help="of the runs; 1 by default")
    options = parser.parse_args(arguments)
    chosen = compare.choose(contests(), options.only)
    if not chosen:
        parser.error(f"no row contains {options.only}")
    setting = Setting(
        isas=options.isa or _core.available()["isas"],
        threads=options.threads,
        scale=options.scale or (0.5 if options.quick else 1.0),
        jax=False,
        micro=None,
    )
    rounds = options.rounds or (3 if options.quick else 9)
    found = compare.compared(chosen, setting, rounds, cpu=options.cpu)
    compare.show_verdicts(found.verdicts)
    print(f"\n{table(found.times, setting.isas)}")
    return found.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
