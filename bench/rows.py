"""What must be shown, as data: who competes in which work, and which ratios are wanted.

A `Contest` is a piece of work with everybody who does it; they take turns. A `Floor` is a ratio of
two of them that is wanted on AVX-512 and on AVX2. "{isa}" in a name is each instruction set.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import mdps
import numpy as np
from peers import Choice, Floats
from settings import BASELINES, Case, all_cases
from timing import Contestant

import committal as cm

ROOT = Path(__file__).parent.parent
OURS = "committal {isa}"
ALONE = "committal {isa}, one thread"
LIMIT = "limit {isa}"
ALL_PEERS = ("NumPy", "Numba", "Numba expert", "JAX", "JAX in blocks")


@dataclass(frozen=True, slots=True)
class Setting:
    """What the machine and the caller allow."""

    isas: list[str]
    threads: int
    scale: float
    jax: bool
    micro: Path | None  # the program of bench/micro


@dataclass(frozen=True, slots=True)
class Floor:
    """The time of `above` over that of `below` (over 1 s, if nobody is): how large, or small."""

    above: str
    below: str | None
    avx512: float | None
    avx2: float | None
    at_most: bool = False

    @classmethod
    def over(cls, peer: str, avx512: float, avx2: float) -> Floor:
        """So many times as fast as a peer."""
        return cls(peer, OURS, avx512, avx2)

    def wanted(self, isa: str) -> float | None:
        return {"avx512": self.avx512, "avx2": self.avx2}.get(isa)


@dataclass(frozen=True, slots=True)
class Contest:
    """A piece of work and everybody who does it."""

    name: str
    contestants: Callable[[Setting], dict[str, Contestant]]
    floors: tuple[Floor, ...] = ()
    unit: str = "ns"
    usual: bool = True  # False: only when asked for
    rounds: int | None = None


# ----------------------------------------------------------------------------------- bandits


def bandit(
    case: Case,
    *floors: Floor,
    peers: tuple[str, ...] = ("NumPy", "Numba"),
    usual: bool = True,
    rounds: int | None = None,
) -> Contest:
    """The contest of a case."""
    one_thread = any(ALONE in (floor.above, floor.below) for floor in floors)
    limit = any(floor.below == LIMIT for floor in floors)

    def contestants(setting: Setting) -> dict[str, Contestant]:
        found = {}
        for isa in setting.isas:
            found[OURS.format(isa=isa)] = case.ours(
                isa=isa, threads=setting.threads, scale=setting.scale
            )
            if one_thread:
                found[ALONE.format(isa=isa)] = case.ours(isa=isa, threads=1, scale=setting.scale)
            if limit and setting.micro is not None:
                found[LIMIT.format(isa=isa)] = micro(setting.micro, "limit", isa)
        for name in peers:
            if not name.startswith("JAX") or setting.jax:
                peer = case.peer(name, threads=setting.threads, scale=setting.scale)
                if peer is not None:
                    found[name] = peer
        return found

    return Contest(case.name, contestants, floors, usual=usual, rounds=rounds)


def micro(program: Path, name: str, isa: str) -> Contestant:
    """A micro-benchmark, which measures itself: seconds per run."""

    def work() -> Floats:
        command = [program, name, "--isa", isa, "--seconds", "0.1", "--plain"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return np.array([float(done.stdout.split()[-1]) * 1e-9])

    return Contestant(work, 1.0, timed=False)


def natural(arms: int, baseline: str = "value", **more: object) -> Case:
    return Case(Choice("natural", baseline, **more), arms)  # type: ignore[arg-type]


def vanilla(arms: int, baseline: str = "value", **more: object) -> Case:
    return Case(Choice("vanilla", baseline, **more), arms)  # type: ignore[arg-type]


def few_arms() -> Iterator[Contest]:
    """Two and three arms, natural."""
    by_experts = (
        Floor.over("Numba expert", 12, 9),
        Floor.over("JAX", 25, 20),
    )
    alone = (Floor(ALONE, LIMIT, 1.6, 1.8, at_most=True), Floor(ALONE, OURS, 1.9, 1.9))
    for arms in (2, 3):
        for baseline in BASELINES:
            most = (17.0, 13.0) if baseline == "min_variance_gradient" else (20.0, 15.0)
            value = baseline == "value"
            yield bandit(
                natural(arms, baseline),
                Floor.over("Numba", *most),
                *(by_experts if value else ()),
                *(alone if value and arms == 3 else ()),
                peers=ALL_PEERS if value else ("NumPy", "Numba"),
            )


def more_arms() -> Iterator[Contest]:
    """The same from five to a thousand arms, and other parts with a hundred."""
    wanted = {10: (16.0, 12.0), 100: (30.0, 25.0), 1000: (100.0, 80.0)}
    for arms in (5, 10, 30, 100, 300, 1000):
        floors = (Floor.over("Numba", *wanted[arms]),) if arms in wanted else ()
        yield bandit(natural(arms), *floors, peers=ALL_PEERS)
    ten, seven = Floor.over("Numba", 10, 8), Floor.over("Numba", 7, 5.5)
    yield bandit(natural(100, "min_variance_natural"), ten)
    yield bandit(natural(100, gamma=0.1), ten)
    yield bandit(natural(100, "min_variance_gradient"))
    yield bandit(vanilla(100), seven)


def other_parts() -> Iterator[Contest]:
    """Vanilla, mixtures, noise and records, with three arms."""
    for baseline in BASELINES:
        yield bandit(vanilla(3, baseline), Floor.over("Numba", 10, 8))
    yield bandit(natural(3, noise="bernoulli"))
    yield bandit(natural(3, noise="gaussian"))
    yield bandit(natural(3, gamma=0.1))
    yield bandit(natural(3, gamma=0.1, noise="bernoulli"))
    yield bandit(vanilla(3, gamma=0.1, noise="bernoulli"))
    yield bandit(Case(Choice("direct", "constant"), 3))
    yield bandit(natural(3, every=10), Floor.over("Numba", 12, 9), peers=("Numba",))


# ------------------------------------------------------------------------------------ others


def gridworlds() -> Iterator[Contest]:
    """Four rooms, and exact values."""
    yield Contest(
        "four rooms, whole exact update",
        lambda s: mdps.four_rooms(s.isas, s.threads, s.scale),
        (Floor.over("Numba", 25, 20),),
        unit="µs",
    )
    yield Contest(
        "exact evaluation, 10x10, batched",
        lambda s: mdps.evaluation(s.isas, s.threads, s.scale),
        (Floor.over("QuantEcon", 250, 200),),
        unit="µs",
    )


def small_calls() -> Iterator[Contest]:
    """How long `cm.run` takes where there is next to nothing to compute."""
    for runs, steps, seconds in ((1, 1, 1e-3), (100, 200, 2e-3)):
        experiment = natural(3).experiment().replace(steps=steps)

        def contestants(
            setting: Setting, experiment: cm.Experiment = experiment, runs: int = runs
        ) -> dict[str, Contestant]:
            calls = 50

            def work() -> None:
                for _ in range(calls):
                    cm.run(experiment, runs=runs, rng=0, threads=setting.threads)

            return {"cm.run": Contestant(work, calls)}

        floor = Floor("cm.run", None, seconds, seconds, at_most=True)
        yield Contest(f"cm.run, {runs} x {steps}", contestants, (floor,), unit="ms")


def phase_diagram() -> Contest:
    """The study of examples/, as a user starts it."""

    def contestants(setting: Setting) -> dict[str, Contestant]:
        def work() -> None:
            study = str(ROOT / "examples" / "phase_diagram.toml")
            with tempfile.TemporaryDirectory() as directory:
                command = ["run", study, "--out", f"{directory}/phase"]
                threads = ["--threads", str(setting.threads)]
                subprocess.run(
                    [sys.executable, "-m", "committal", *command, *threads],
                    check=True,
                    capture_output=True,
                )

        return {"committal run": Contestant(work, 1, setting.threads)}

    floor = Floor("committal run", None, 28, 28, at_most=True)
    return Contest("phase diagram", contestants, (floor,), unit="s", usual=False, rounds=1)


def contests() -> list[Contest]:
    """All of them, in the order of the table."""
    return [
        *few_arms(),
        *other_parts(),
        *more_arms(),
        *gridworlds(),
        *small_calls(),
        phase_diagram(),
    ]


def combinations() -> list[Contest]:
    """The 240 that `--all` means."""
    return [bandit(case, Floor.over("Numba", 4, 3), peers=("Numba",)) for case in all_cases()]
