"""What came after the paper, against an independent implementation.

``data/after_paper.json`` holds numbers, with standard errors, of an implementation that shares no
code with this one. A row here is a setting in our words, and where in that file its numbers are.
Rates and means agree if they differ by less than four standard errors; rates are compared by the
exact form of that test, as in ``test_reference_rates.py``.

The rows of the default suite are cut where they would take long; with ``--run-slow`` all of them
run as often and as long as they did there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import committal as cm

FILE = Path(__file__).parent.parent / "data" / "after_paper.json"
NUMBERS = json.loads(FILE.read_text(encoding="utf-8"))
SIGMAS = 4.0
#: Updates of all runs together that the default suite has the time for, per row.
QUICK = 60_000_000

Counts = Callable[[int, int, int, int], float]


@dataclass(frozen=True)
class Row:
    """A setting, the part of the file that has its numbers, and what they are."""

    name: str
    experiment: cm.Experiment
    at: str
    #: From the name of a number in the file to what it is of our results.
    numbers: dict[str, str]
    runs: int | None = None
    times: tuple[int, ...] | None = None

    @property
    def wanted(self) -> dict[str, Any]:
        found = NUMBERS
        for key in self.at.split("/"):
            found = found[key]
        return dict(found)

    @property
    def all_times(self) -> tuple[int, ...]:
        return self.times or tuple(self.wanted["times"])

    @property
    def all_runs(self) -> int:
        return self.runs or int(self.wanted["runs"])


def bandit(means: list[float], update: Any, baseline: Any = 0.0, **more: Any) -> cm.Experiment:
    """An experiment of a bandit, from uniform on the policy unless said otherwise."""
    noise = {key: more.pop(key) for key in ("noise", "sigma") if key in more}
    policy = cm.Softmax(more.pop("theta0", None))
    problem = more.pop("problem", None) or cm.Bandit(means, **noise)
    return cm.Experiment(problem, policy, update, baseline, steps=1, **more)


PAPER = [1.0, 0.7, 0.0]
BERN = {"noise": "bernoulli"}
GAUSS = {"noise": "gaussian", "sigma": 0.5}
WRONG = {"frac_p1_below_half": "wrong"}
FAIL = {"fail": "fail"}
V = cm.Value()
RARE = {"problem": cm.Bandit.from_table([[(6, 0.1), (0, 0.9)], [(0.5, 1)]])}
MEAN, RLOO = {"centre": "mean"}, {"centre": "leave_one_out"}
GRPO = {"centre": "mean", "scale": "std"}


def group(samples: int, how: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"estimator": cm.Group(samples, **how, **more)}


def a1() -> list[Row]:
    npg = cm.Natural(0.1)
    two = [0.8, 0.2]
    both = WRONG | {"mean_value": "value"}
    clip = {"optimiser": cm.ClipNorm(5)}
    folder = "A1_value_npg_noise/"
    return [
        Row("det", bandit([1, 0], npg, V), folder + "K2_det", both),
        Row("gauss", bandit([1, 0], npg, V, **GAUSS), folder + "K2_gauss05", both),
        Row("bern", bandit(two, npg, V, **BERN), folder + "K2_bern", WRONG),
        Row("three", bandit(PAPER, npg, V, **GAUSS), folder + "K3_gauss05", FAIL),
        Row("clip", bandit(two, npg, V, **BERN, **clip), folder + "clip", WRONG),
        Row("b0", bandit(two, npg, **BERN), folder + "b0", WRONG),
    ]


def a2() -> list[Row]:
    below, folder = {"frac_below_half": "wrong"}, "A2_optimisers/"
    half, pooled = [1, 0.5], {"frac": "wrong"}

    def clipped(limit: float, b: Any = 0.0) -> cm.Experiment:
        return bandit(half, cm.Vanilla(0.5), b, optimiser=cm.ClipNorm(limit))

    def adam(alpha: float) -> cm.Experiment:
        return bandit(half, cm.Vanilla(alpha), optimiser=cm.Adam())

    normed = {"optimiser": cm.Normalised()}
    return [
        Row("clip .3", clipped(0.3), folder + "clip_03", below, times=(1000,)),
        Row("clip .5", clipped(0.5), folder + "clip_05_pooled", pooled, times=(1000,)),
        Row("clip 1", clipped(1.0), folder + "clip_10", below),
        Row("clip V", clipped(0.3, V), folder + "clip_03_value", below),
        Row("adam .2", adam(0.2), folder + "adam_02_pooled_T5000", pooled, times=(5000,)),
        Row("adam .05", adam(0.05), folder + "adam_005", below),
        Row("normed", bandit(half, cm.Vanilla(0.05), **normed), folder + "normed_K2", below),
        Row(
            "normed three",
            bandit(PAPER, cm.Vanilla(0.1), **normed),
            folder + "normed_K3_b0",
            FAIL,
            times=(1000,),
        ),
    ]


def a3() -> list[Row]:
    both = {"frac_below_half": "wrong", "regret": "regret"}
    half, folder = [1, 0.5], "A3_sgb/"
    rows = []
    for kind in ("det", "det_long", "bern", "K10"):
        for name in NUMBERS["A3_sgb"][kind]:
            eta = float(name.rpartition("eta")[2])
            means = {"bern": [0.6, 0.5], "K10": [0.6, *[0.5] * 9]}.get(kind, half)
            noise = {} if kind.startswith("det") else BERN
            exp = bandit(means, cm.Vanilla(eta), **noise)
            rows.append(Row(f"{kind} {eta}", exp, f"{folder}{kind}/{name}", both))
    rows.append(Row("value", bandit(half, cm.Vanilla(4), V), folder + "value", both))
    return rows


def a6() -> list[Row]:
    # Losses: theta = -L grows by (R - 1) / pi.
    def leader(policy: Any) -> cm.Experiment:
        exp = bandit([0.6, *[0.5] * 4], cm.Natural(1), 1.0, **BERN)
        return exp.replace(policy=policy)

    eta = cm.Decay(math.sqrt(math.log(5) / 5), 0.5)
    regret = {"mean": "regret"}
    return [
        Row("exp3", leader(cm.ScaledSoftmax(scale=eta)), "A6_ftrl/exp3_losses", regret),
        Row("tsallis", leader(cm.Tsallis(scale=cm.Decay(2, 0.5))), "A6_ftrl/tsallis_iw", regret),
    ]


def a8() -> list[Row]:
    folder = "A8_group_dynamics/"
    vanilla = cm.Vanilla(0.1)
    best, last = {"mean_pi_best": "best"}, {"fail_at_1000_2000": "fail"}
    start = {"theta0": [0, 3, 5]}
    rows = [
        Row(
            "rloo",
            bandit([], vanilla, **RARE, **group(8, RLOO)),
            folder + "rloo",
            best,
            times=(200,),
        ),
        Row(
            "grpo",
            bandit([], vanilla, **RARE, **group(8, GRPO)),
            folder + "grpo",
            best,
            times=(200,),
        ),
        Row(
            "long",
            bandit([], vanilla, **RARE, **group(8, GRPO)),
            folder + "long",
            best | {"frac_best_arm_below_half": "wrong"},
        ),
    ]
    for name, how in (("mean", MEAN), ("rloo", RLOO), ("grpo", GRPO), ("b0", {"centre": None})):
        exp = bandit(PAPER, cm.Natural(0.025), **start, **group(2, how))
        at = f"{folder}det/npg_{name}_N2_K3_det_(0,3,5)"
        rows.append(Row(f"det {name}", exp, at, last, times=(1000, 2000)))
    for name, samples, how, b in (
        ("rloo", 2, RLOO, 0.0),
        ("grpo", 4, GRPO, 0.0),
        ("value", 2, {"centre": None}, V),
    ):
        exp = bandit([0.8, 0.2], cm.Natural(0.1), b, **BERN, **group(samples, how))
        at = f"{folder}noise/npg_{name}_N{samples}_K2_bern.8.2"
        rows.append(Row(f"noise {name}", exp, at, WRONG))
    return rows


def a10() -> list[Row]:
    more = {**BERN, "theta0": [0, 3, 3]}
    clip = group(8, GRPO, eps=1e-6, weight=cm.Clip(0.2, 0.2))
    numbers = {"mean_value": "value", "fail_below_85": "fail .85", "entropy": "entropy"}
    exp = bandit([0.9, 0.6, 0.1], cm.Vanilla(0.5), **more, **clip)
    four = exp.replace(**{"estimator.epochs": 4})
    free = four.replace(**{"estimator.weight": None})
    return [
        Row("one epoch", exp, "A10_ppo/grpo_N8_E1_clip", numbers),
        Row("four epochs", free, "A10_ppo/grpo_N8_E4_noclip", numbers),
        Row("four epochs, clipped", four, "A10_ppo/grpo_N8_E4_clip", numbers),
    ]


def a11() -> list[Row]:
    rows = []
    for name in NUMBERS["A11_asymre_topr"]["sampled"]:
        weight = cm.Asymmetric() if name.startswith("asymre") else cm.Tapered()
        exp = bandit(
            PAPER,
            cm.Vanilla(0.1),
            float(name.rpartition("V")[2]),
            theta0=[0, 3, 5],
            behaviour=cm.Fixed([1 / 3] * 3),
            estimator=cm.OneSample(weight=weight),
        )
        numbers = {"mean_policy": "policy", "frac_best_below_half": "wrong"}
        rows.append(Row(name, exp, f"A11_asymre_topr/sampled/{name}", numbers))
    return rows


def a12() -> list[Row]:
    start = {"theta0": [0, 5, 3]}
    gate = {"estimator": cm.OneSample(weight=cm.Delightful(1))}
    noise = {"problem": cm.Bandit.from_table([[(0.6, 1)], [(1, 0.5), (0, 0.5)]])}
    both = FAIL | {"mean_value": "value"}
    return [
        Row(
            "vanilla",
            bandit(PAPER, cm.Vanilla(0.5), V, **start),
            "A12_dg/pg",
            {"fail_1e4_pooled": "fail"},
            times=(10_000,),
        ),
        Row("delightful", bandit(PAPER, cm.Vanilla(0.5), V, **start, **gate), "A12_dg/dg", both),
        Row(
            "noise",
            bandit([], cm.Vanilla(0.02), V, **noise, **gate),
            "A12_dg/noise_sim",
            {"mean_pi_best": "best"},
        ),
    ]


def a13() -> list[Row]:
    critics = {
        "value": V,
        "ema_01_init0": cm.Critic(0.1, 0.0),
        "ema_001_init0": cm.Critic(0.01, 0.0),
    }
    return [
        Row(
            name,
            bandit(PAPER, cm.Natural(0.1), b, theta0=[0, 3, 5]),
            f"A13_critic/npg_critic_{name}_T1000",
            FAIL,
            times=(1000,),
        )
        for name, b in critics.items()
    ]


ROWS = {
    f"{group.__name__} {row.name}": row
    for group in (a1, a2, a3, a6, a8, a10, a11, a12, a13)
    for row in group()
}


# -- comparison ------------------------------------------------------------------------------------


def run(row: Row, times: tuple[int, ...], runs: int) -> Any:
    names = {"value", "policy"} | ({"regret", "entropy"} & set(row.numbers.values()))
    record = cm.Record(*sorted(names), at=times)
    return cm.run(row.experiment.replace(steps=max(times), record=record), runs=runs, rng=14)


def ours(what: str, data: Any, time: int, best: int) -> np.ndarray:
    """One number per run, or one per run and arm."""
    value, policy = (data[name].sel(time=time).to_numpy() for name in ("value", "policy"))
    if what == "wrong":
        return np.asarray(policy[:, best] < 0.5)
    if what.startswith("fail"):
        return np.asarray(value < float(what.removeprefix("fail") or 0.9))
    if what == "best":
        return np.asarray(policy[:, best])
    return np.asarray(data[what].sel(time=time).to_numpy())


def theirs(row: Row, name: str, i: int, several: bool) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and standard errors, at the i-th time."""
    wanted = row.wanted
    given = wanted[name][i] if several else wanted[name]
    if name in ("mean", "mean_policy"):
        return np.array(given), np.array(wanted["sem"][i])
    return np.array(given[0]), np.array(given[1])


def apart(row: Row, times: tuple[int, ...], runs: int, between: Counts) -> dict[str, float]:
    """How many standard errors ours and theirs are apart, by name and time."""
    data, found = run(row, times, runs), {}
    problem = row.experiment.problem
    assert isinstance(problem, cm.Bandit)
    for name, what in row.numbers.items():
        several = row.times is None or name == "fail_at_1000_2000"
        for time in times:
            i = row.all_times.index(time)
            x = ours(what, data, time, problem.best)
            y, y_se = theirs(row, name, i, several)
            key = f"{name} at {time}"
            if x.dtype == bool:
                n = row.all_runs
                found[key] = between(int(x.sum()), runs, round(float(y) * n), n)
                continue
            x_se = x.std(axis=0, ddof=1) / math.sqrt(runs)
            # Their numbers of policies are rounded to four digits.
            rounded = 1e-4 if name == "mean_policy" else 1e-7 * np.abs(y)
            error = np.hypot(x_se, y_se) + rounded
            found[key] = float(np.max(np.abs(x.mean(axis=0) - y) / error))
    return found


def quick(row: Row) -> tuple[tuple[int, ...], int]:
    """The times and the runs that there is time for."""
    samples = getattr(row.experiment.estimator, "samples", 1)
    most = QUICK // (2 * samples)
    times = tuple(t for t in row.all_times if t * 400 <= most) or row.all_times[:1]
    return times, max(min(row.all_runs, most // max(times)), 400)


@pytest.mark.parametrize("name", ROWS)
def test_numbers_agree(name: str, sigmas_between_counts: Counts) -> None:
    row = ROWS[name]
    found = apart(row, *quick(row), sigmas_between_counts)
    assert max(found.values()) < SIGMAS, found


CUT = [name for name, row in ROWS.items() if quick(row) != (row.all_times, row.all_runs)]


@pytest.mark.slow
@pytest.mark.parametrize("name", CUT)
def test_numbers_agree_in_full(name: str, sigmas_between_counts: Counts) -> None:
    row = ROWS[name]
    found = apart(row, row.all_times, row.all_runs, sigmas_between_counts)
    assert max(found.values()) < SIGMAS, found


PLANTED: dict[str, tuple[str, dict[str, Any]]] = {
    "no scale": ("a8 grpo", {"estimator.scale": None}),
    "b of the others": ("a8 det mean", {"estimator.centre": "leave_one_out"}),
    "no gate": ("a12 delightful", {"estimator.weight": None}),
    "no taper": ("a11 topr_V0.8", {"estimator.weight": cm.Asymmetric()}),
    "another start": ("a13 ema_001_init0", {"baseline.initial": 0.2}),
    "no trust": ("a10 four epochs, clipped", {"estimator.weight": None}),
    "no clip": ("a2 clip .3", {"optimiser.limit": 0.5}),
}


@pytest.mark.parametrize("mistake", PLANTED)
def test_a_planted_mistake_is_seen(mistake: str, sigmas_between_counts: Counts) -> None:
    name, changes = PLANTED[mistake]
    row = ROWS[name]
    wrong = Row(name, row.experiment.replace(**changes), row.at, row.numbers, row.runs, row.times)
    assert max(apart(wrong, *quick(row), sigmas_between_counts).values()) > SIGMAS
