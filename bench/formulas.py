"""Time formulas against the run with the native part, and against the same rule in plain Numba.

    python bench/formulas.py                       everything, two threads
    python bench/formulas.py --only Adam --quick   some of it, roughly
    python bench/formulas.py --cpu --json out.json

Three rules, each for 3, 10 and 100 arms and on every instruction set: a baseline (that of the
policy's collisions, against the value), a weight (tapered, against none) and Adam (against the
plain optimiser). Everybody answers first, and the answers must agree; then they take turns
(timing.py). The table at the end is that of docs/formulas.md.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import compare
import numba
import numpy as np
from peers import Choice, Floats
from rows import Contest, Floor, Setting
from settings import OUR_RUNS, Case
from timing import Contestant, Times, disagreements, take_turns

import committal as cm
from committal import _core
from committal.support.machine import available_threads

ARMS = (3, 10, 100)
NATIVE = "native {isa}"
FORMULA = "formula {isa}"
#: At most so many times as long as the native part (three arms), so many times as fast as Numba.
MOST_OVER_NATIVE = 2.0
LEAST_OVER_NUMBA = 6.0

# ------------------------------------------------------------------------------ as formulas


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
def _policy(theta: Floats, pi: Floats) -> None:
    largest = theta.max()
    total = 0.0
    for i in range(theta.size):
        pi[i] = np.exp(theta[i] - largest)
        total += pi[i]
    for i in range(theta.size):
        pi[i] /= total


@numba.njit
def _drawn(pi: Floats) -> int:
    u = np.random.random()  # noqa: NPY002
    a = 0
    cumulative = pi[0]
    while u >= cumulative and a < pi.size - 1:
        a += 1
        cumulative += pi[a]
    return a


@numba.njit
def _value(pi: Floats, r: Floats) -> float:
    total = 0.0
    for i in range(pi.size):
        total += pi[i] * r[i]
    return total


@numba.njit(parallel=True)
def numba_collision(r, theta0, alpha, steps, runs):  # type: ignore[no-untyped-def]
    final = np.empty(runs)
    for run in numba.prange(runs):
        theta, pi = theta0.copy(), np.empty(r.size)
        for _ in range(steps):
            _policy(theta, pi)
            above = 0.0
            below = 0.0
            for i in range(r.size):
                w = pi[i] * pi[i]
                above += w * r[i]
                below += w
            a = _drawn(pi)
            theta[a] += alpha * (r[a] - above / below) / pi[a]
        _policy(theta, pi)
        final[run] = _value(pi, r)
    return final


@numba.njit(parallel=True)
def numba_tapered(r, theta0, alpha, steps, runs):  # type: ignore[no-untyped-def]
    final = np.empty(runs)
    for run in numba.prange(runs):
        theta, pi = theta0.copy(), np.empty(r.size)
        for _ in range(steps):
            _policy(theta, pi)
            a = _drawn(pi)
            advantage = r[a] - _value(pi, r)
            rho = pi[a] / pi[a]
            w = 1.0 if advantage > 0.0 else min(rho, 1.0)
            theta[a] += alpha * w * advantage / pi[a]
        _policy(theta, pi)
        final[run] = _value(pi, r)
    return final


@numba.njit(parallel=True)
def numba_adam(r, theta0, alpha, steps, runs):  # type: ignore[no-untyped-def]
    final = np.empty(runs)
    for run in numba.prange(runs):
        theta, pi = theta0.copy(), np.empty(r.size)
        m, v = np.zeros(r.size), np.zeros(r.size)
        for t in range(steps):
            _policy(theta, pi)
            a = _drawn(pi)
            advantage = r[a] - _value(pi, r)
            left1 = 1.0 - 0.9 ** (t + 1)
            left2 = 1.0 - 0.999 ** (t + 1)
            for i in range(r.size):
                g = advantage * ((1.0 if i == a else 0.0) - pi[i])
                m[i] = 0.9 * m[i] + (1.0 - 0.9) * g
                v[i] = 0.999 * v[i] + (1.0 - 0.999) * g * g
                theta[i] += alpha * (m[i] / left1) / (np.sqrt(v[i] / left2) + 1e-8)
        _policy(theta, pi)
        final[run] = _value(pi, r)
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

    def contest(self, arms: int) -> Contest:
        """The work of everybody, and what is wanted."""
        floors = [Floor("Numba", FORMULA, LEAST_OVER_NUMBA, LEAST_OVER_NUMBA)]
        most = MOST_OVER_NATIVE if arms == min(ARMS) else float("inf")
        floors.insert(0, Floor(FORMULA, NATIVE, most, most, at_most=True))
        case = Case(Choice(self.update, "value"), arms)
        alpha = case.alpha if self.step_size is None else self.step_size
        native = case.experiment().replace(**{"update.step_size": alpha})
        formula = native.replace(**self.changes)

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
    Rule("baseline (collision)", "natural", {"baseline": collision}, numba_collision),
    Rule("weight (tapered)", "natural", {"estimator": cm.OneSample(weight=tapered)}, numba_tapered),
    Rule("Adam", "vanilla", {"optimiser": cm.Adam()}, numba_adam, step_size=0.02),
)


def contests() -> list[Contest]:
    """Every rule with every number of arms."""
    return [rule.contest(arms) for rule in RULES for arms in ARMS]


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
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", action="append", default=[], metavar="ROW",
                        help="rows whose name contains this; may be given again")  # fmt: skip
    parser.add_argument("--isa", action="append", choices=_core.available()["isas"],
                        help="only this instruction set; may be given again")  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="half of the runs, three rounds")
    parser.add_argument("--scale", type=float, help="of the runs; 1 by default")
    parser.add_argument("--rounds", type=int, help="9 by default; with --quick 3")
    parser.add_argument("--cpu", action="store_true",
                        help="take the processor's time: the machine is busy")  # fmt: skip
    parser.add_argument("--threads", type=int, default=min(2, available_threads()))
    parser.add_argument("--json", type=Path, help="write what was found to this file")
    options = parser.parse_args(arguments)
    chosen = compare.choose(contests(), options.only)
    if not chosen:
        parser.error(f"no row contains {options.only}")
    numba.set_num_threads(options.threads)
    setting = Setting(
        isas=options.isa or _core.available()["isas"],
        threads=options.threads,
        scale=options.scale or (0.5 if options.quick else 1.0),
        jax=False,
        micro=None,
    )
    rounds = options.rounds or (3 if options.quick else 9)
    machine = compare.the_machine(options.threads, None)
    machine |= {"clock": "processor" if options.cpu else "wall", "rounds": rounds}
    print(", ".join(f"{name} {value}" for name, value in machine.items()))
    measured: dict[str, dict[str, Times]] = {}
    found, kept, wrong = [], [], []
    for contest in chosen:
        contestants = contest.contestants(setting)
        wrong += [f"{contest.name}: {what}" for what in disagreements(contestants)]
        times = measured[contest.name] = take_turns(contestants, rounds, cpu=options.cpu)
        compare.show_times(contest, times)
        judged = list(compare.verdicts(contest, times, setting.isas, cpu=options.cpu))
        found += judged
        kept.append({
            "name": contest.name,
            "unit": contest.unit,
            "times": {name: each.best * 1e9 for name, each in times.items()},
            "verdicts": [asdict(each) | {"met": each.met} for each in judged
                         if each.wanted != float("inf")],
        })  # fmt: skip
    compare.show_verdicts(found)
    print(f"\n{table(measured, setting.isas)}")
    for line in wrong:
        print(f"answers differ: {line}")
    if options.json:
        options.json.write_text(json.dumps({"machine": machine, "contests": kept}, indent=1) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
