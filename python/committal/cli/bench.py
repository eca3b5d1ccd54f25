"""``committal bench``: how fast this machine is, on every instruction set that it has.

A short version of what the repository's ``bench/`` measures, without anybody to compare with: it
needs no compiler and no other package. Everything of one setting takes turns, several rounds, and
the best time of each counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

import numpy as np
import typer

from committal.cli.options import AsJson, Threads, print_json
from committal.config import (
    Bandit,
    Baseline,
    Behaviour,
    ExactQ,
    Experiment,
    MinVariance,
    Natural,
    OnPolicy,
    Record,
    Softmax,
    UniformMixture,
    Update,
    Value,
    Vanilla,
    maps,
)
from committal.simulation.engine import Engine
from committal.support import provenance, text
from committal.support.machine import available_threads, processor, threads_of

SECONDS = 0.03  # of one measurement: short enough to fall between disturbances
ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Setting:
    """One line of the table."""

    name: str
    experiment: Callable[[], Experiment]


@dataclass(frozen=True, slots=True)
class Found:
    """What was measured: nanoseconds per run and update."""

    setting: str
    isa: str
    threads: int
    ns: float


def register(app: typer.Typer) -> None:
    """Add the command to an application."""
    app.command("bench")(bench_command)


def bench_command(
    quick: Annotated[bool, typer.Option("--quick", help="Fewer settings, roughly.")] = False,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Measure how fast this machine computes, on every instruction set that it has.

    Nanoseconds per run and update: with one thread, and with all. Nothing else should run
    meanwhile. The instruction set 'generic' runs everywhere; the best one is taken by default.

    \b
      committal bench
      committal bench --json >> history.jsonl
    """
    most = threads_of("--threads", threads)
    machine = about_the_machine(most)
    if not as_json:
        typer.echo("\n".join(text.facts(machine)))
        typer.echo("\nnanoseconds per run and update")
    isas: list[str] = provenance.build()["isas"]
    counts = sorted({1, most})
    columns = [(isa, count) for isa in isas for count in counts]
    found: list[Found] = []
    rows = [["", *(f"{isa}, {text.many(count, 'thread')}" for isa, count in columns)]]
    for setting in settings(quick=quick):
        times = measured(
            setting.experiment(), columns, rounds=2 if quick else ROUNDS, seconds=SECONDS
        )
        found += [
            Found(setting.name, isa, count, ns)
            for (isa, count), ns in zip(columns, times, strict=True)
        ]
        rows.append([setting.name, *map(_number, times)])
    if as_json:
        rows_of_data = [
            {"setting": f.setting, "isa": f.isa, "threads": f.threads, "ns": f.ns} for f in found
        ]
        print_json({**machine, "rows": rows_of_data}, indent=None)
    else:
        typer.echo("\n".join(text.columns(rows, align="<>")))


def about_the_machine(threads: int) -> dict[str, Any]:
    """Say who makes the numbers.

    Examples
    --------
    >>> list(about_the_machine(2))[:2]
    ['date', 'processor']
    """
    build = provenance.build()
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": processor(),
        "cores": available_threads(),
        "threads": threads,
        "instruction sets": build["isas"],
        "compiler": build["compiler"],
        "committal": build["committal_version"],
        "stream version": build["stream_version"],
    }


def settings(*, quick: bool) -> list[Setting]:
    """List what is measured.

    Examples
    --------
    >>> [setting.name for setting in settings(quick=True)][:2]
    ['natural, value, K=3', 'natural, value, K=100']
    """
    few = [
        Setting("natural, value, K=3", lambda: bandit(3)),
        Setting("natural, value, K=100", lambda: bandit(100)),
        Setting("vanilla, value, K=3", lambda: bandit(3, update=Vanilla(0.5))),
        Setting("four rooms, exact values, b*", four_rooms),
    ]
    if quick:
        return few
    mixture = UniformMixture(0.1)
    return [
        Setting("natural, value, K=2", lambda: bandit(2)),
        few[0],
        Setting("natural, b*, K=3", lambda: bandit(3, baseline=MinVariance())),
        Setting("natural, value, Bernoulli, K=3", lambda: bandit(3, noise="bernoulli")),
        Setting("natural, value, mixture, K=3", lambda: bandit(3, behaviour=mixture)),
        Setting("natural, value, policy every 10, K=3", lambda: bandit(3, every=10)),
        few[2],
        Setting("natural, value, K=10", lambda: bandit(10)),
        few[1],
        Setting("vanilla, value, K=100", lambda: bandit(100, update=Vanilla(0.5))),
        Setting("natural, value, K=1000", lambda: bandit(1000)),
        few[3],
    ]


def bandit(
    arms: int,
    *,
    update: Update | None = None,
    baseline: Baseline | None = None,
    behaviour: Behaviour | None = None,
    noise: str | None = None,
    every: int | None = None,
) -> Experiment:
    """Return a bandit of so many arms.

    Examples
    --------
    >>> bandit(10).problem.arms
    10
    """
    return Experiment(
        problem=Bandit(np.linspace(1.0, 0.0, arms), noise=noise),
        policy=Softmax(np.zeros(arms)),
        # A natural step grows like 1/pi: keep it the same size for many arms.
        update=Natural(0.075 / arms) if update is None else update,
        baseline=Value() if baseline is None else baseline,
        behaviour=OnPolicy() if behaviour is None else behaviour,
        steps=200 if arms <= 10 else 100,
        record=Record("value") if every is None else Record("policy", every=every),
    )


def four_rooms() -> Experiment:
    """Return the paper's maze, with exact values."""
    return Experiment(
        problem=maps.four_rooms(),
        policy=Softmax(),
        update=Natural(0.1),
        estimator=ExactQ(),
        baseline=MinVariance(),
        steps=50,
        record=Record("return"),
    )


def measured(
    experiment: Experiment, columns: list[tuple[str, int]], *, rounds: int, seconds: float
) -> list[float]:
    """Return nanoseconds per run and update for pairs of an instruction set and threads.

    Examples
    --------
    >>> measured(bandit(2), [("auto", 1)], rounds=1, seconds=1e-4)[0] > 0
    True
    """
    engine = Engine(experiment)

    def timed(isa: str, threads: int, runs: int) -> float:
        start = time.perf_counter()
        engine.compute(key=0, first_run=0, runs=runs, threads=threads, isa=isa)
        return time.perf_counter() - start

    block = 64  # runs that advance together: whole blocks for every thread
    sizes = []
    for isa, threads in columns:
        runs = block * threads
        while (once := timed(isa, threads, runs)) < seconds / 4:
            runs *= 2
        sizes.append(max(round(runs * seconds / once / (block * threads)), 1) * block * threads)
    best = [float("inf")] * len(columns)
    for _ in range(rounds):
        for i, ((isa, threads), runs) in enumerate(zip(columns, sizes, strict=True)):
            best[i] = min(best[i], timed(isa, threads, runs) / runs)
    return [each / experiment.steps * 1e9 for each in best]


def _number(ns: float) -> str:
    return f"{ns:.2f}" if ns < 100 else f"{ns:.0f}"
