"""Time committal against the same work in Numba, NumPy, JAX and QuantEcon, side by side.

Everybody answers first, and the answers must agree; compilation and imports happen then. Then they
take turns (see timing.py). Every instruction set of the machine takes part.

    python bench/compare.py                          everything but what takes minutes
    python bench/compare.py --only "K=3" --quick     some of it, roughly
    python bench/compare.py --all                    240 combinations against plain Numba
    python bench/compare.py --only "phase diagram"   what takes minutes, by its name
    python bench/compare.py --json out.json && python bench/picture.py out.json

The row "limit" needs the program of bench/micro (see there): --micro build/bench/committal_micro.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: the peers are parallel already

import experts
import numba
import numpy as np
from rows import ALONE, OURS, ROOT, Contest, Floor, Setting, combinations, contests
from timing import Ratio, Times, disagreements, take_turns

import committal as cm
from committal import _core
from committal.support.machine import available_threads, processor
from committal.support.provenance import build

MICRO = ROOT / "build" / "bench" / "committal_micro"
UNITS = {"ns": 1e9, "µs": 1e6, "ms": 1e3, "s": 1.0}


@dataclass(frozen=True, slots=True)
class Verdict:
    """A ratio that was wanted, and what was found."""

    contest: str
    claim: str
    isa: str
    ratio: Ratio
    wanted: float | None
    at_most: bool

    @property
    def met(self) -> bool | None:
        if self.wanted is None:
            return None
        return self.ratio.value <= self.wanted if self.at_most else self.ratio.value >= self.wanted


def verdicts(
    contest: Contest, times: dict[str, Times], isas: list[str], *, cpu: bool
) -> Iterator[Verdict]:
    """Compare what was measured with what is wanted, for every instruction set."""
    for floor in contest.floors:
        if cpu and (floor.above, floor.below) == (ALONE, OURS):
            continue  # how threads share the work only the clock on the wall can tell
        for isa in isas:
            found = _verdict(contest, floor, isa, times)
            if found is not None:
                yield found
            if "{isa}" not in f"{floor.above}{floor.below}":
                break  # a time that is the machine's best


def _verdict(contest: Contest, floor: Floor, isa: str, times: dict[str, Times]) -> Verdict | None:
    above = floor.above.format(isa=isa)
    claim = above.replace(f" {isa}", "")
    if floor.below is None:
        whole = Times([1.0] * len(times[above].rounds))
        return Verdict(
            contest.name, f"{claim}, s", "auto", Ratio.of(times[above], whole), floor.avx512, True
        )
    below = floor.below.format(isa=isa)
    if above not in times or below not in times:
        return None
    claim = f"{claim} / {below.replace(f' {isa}', '')}"
    ratio = Ratio.of(times[above], times[below])
    return Verdict(contest.name, claim, isa, ratio, floor.wanted(isa), floor.at_most)


def show_times(contest: Contest, times: dict[str, Times]) -> None:
    """Print who took how long."""
    print(f"\n{contest.name}")
    for name, each in times.items():
        best = each.best * UNITS[contest.unit]
        print(f"  {name:<30} {best:>10.4g} {contest.unit}  +{100 * each.spread:.0f} %", flush=True)


def show_verdicts(found: list[Verdict]) -> None:
    """Print the table: what was wanted, what was found."""
    header = (f"{'work':<46}", f"{'time / time':<34}", f"{'set':<7}", f"{'measured (range)':<23}")
    print(f"\n| {' | '.join(header)} | floor  | |")
    print(f"|{'|'.join('-' * (len(cell) + 2) for cell in header)}|--------|---|")
    for each in found:
        ratio = each.ratio
        measured = f"{ratio.value:.4g} ({ratio.low:.3g} to {ratio.high:.3g})"
        wanted = "" if each.wanted is None else f"{'≤' if each.at_most else '≥'} {each.wanted:g}"
        met = {None: "", True: "met", False: "missed"}[each.met]
        print(f"| {each.contest:<46} | {each.claim:<34} | {each.isa:<7} "
              f"| {measured:<23} | {wanted:<6} | {met} |")  # fmt: skip


def show_worst(found: list[Verdict]) -> None:
    """Print the closest of many combinations, for every instruction set."""
    for isa in dict.fromkeys(each.isa for each in found):
        group = sorted((v for v in found if v.isa == isa), key=lambda v: v.ratio.value)
        missed = [v for v in group if v.met is False]
        print(f"\n{isa}: {len(group)} combinations, {len(missed)} below the floor; the closest:")
        for each in group[: max(5, min(len(missed), 20))]:
            print(f"  {each.ratio.value:6.2f}x  {each.contest}")


def the_machine(threads: int, jax: str | None) -> dict[str, object]:
    """Who made the numbers."""
    made = build()
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "processor": processor(),
        "threads": threads,
        "compiler": made["compiler"],
        "isas": made["isas"],
        "committal": cm.__version__,
        "numpy": np.__version__,
        "numba": numba.__version__,
        "jax": jax,
    }


def choose(every: list[Contest], names: list[str]) -> list[Contest]:
    """Take the rows of these names or, failing those, with these words in their names."""
    if not names:
        return [contest for contest in every if contest.usual]
    exact = {contest.name for contest in every}
    return [
        contest
        for contest in every
        if any(contest.name == name or (name not in exact and name in contest.name)
               for name in names)
    ]  # fmt: skip


def parser_of(description: str | None) -> argparse.ArgumentParser:
    """What every comparison may be asked."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", action="append", default=[], metavar="ROW",
                        help="rows whose name contains this; may be given again")  # fmt: skip
    parser.add_argument("--isa", action="append", choices=_core.available()["isas"],
                        help="only this instruction set; may be given again")  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="half of the runs, three rounds")
    parser.add_argument("--rounds", type=int, help="9 by default; with --quick 3, with --all 2")
    parser.add_argument("--cpu", action="store_true",
                        help="take the processor's time: the machine is busy")  # fmt: skip
    parser.add_argument("--threads", type=int, default=min(2, available_threads()))
    parser.add_argument("--json", type=Path, help="write what was found to this file")
    return parser


@dataclass
class Found:
    """What a comparison has found so far."""

    machine: dict[str, object]
    times: dict[str, dict[str, Times]] = field(default_factory=dict)
    verdicts: list[Verdict] = field(default_factory=list)
    contests: list[dict[str, object]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def finish(self, json_file: Path | None) -> int:
        """Say whose answers differ, and keep everything; the exit code."""
        for line in self.wrong:
            print(f"answers differ: {line}")
        if json_file:
            kept = {"machine": self.machine, "contests": self.contests}
            json_file.write_text(json.dumps(kept, indent=1) + "\n")
        return 1 if self.wrong else 0


def compared(
    chosen: list[Contest], setting: Setting, rounds: int, *, cpu: bool, jax: str | None = None
) -> Found:
    """Let everybody answer and take turns, contest by contest, and print who took how long."""
    numba.set_num_threads(setting.threads)
    machine = the_machine(setting.threads, jax)
    machine |= {"clock": "processor" if cpu else "wall", "rounds": rounds}
    print(", ".join(f"{name} {value}" for name, value in machine.items()))
    found = Found(machine)
    for contest in chosen:
        contestants = contest.contestants(setting)
        if contest.rounds is None or contest.rounds > 1:
            found.wrong += [f"{contest.name}: {what}" for what in disagreements(contestants)]
        times = take_turns(contestants, contest.rounds or rounds, cpu=cpu)
        judged = list(verdicts(contest, times, setting.isas, cpu=cpu))
        show_times(contest, times)
        found.times[contest.name] = times
        found.verdicts += judged
        found.contests.append({
            "name": contest.name,
            "unit": contest.unit,
            "times": {name: each.best * UNITS[contest.unit] for name, each in times.items()},
            "spread": {name: each.spread for name, each in times.items()},
            "verdicts": [asdict(each) | {"met": each.met} for each in judged],
        })  # fmt: skip
    return found


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--all", action="store_true", help="240 combinations against Numba")
    parser.add_argument("--micro", type=Path, default=MICRO, help="the program of bench/micro")
    options = parser.parse_args()
    version = experts.prepare_jax(options.threads)
    isas: list[str] = _core.available()["isas"]
    if options.all and len(isas) > 1:
        isas.remove("generic")  # which has no floors, and would take the longest
    setting = Setting(
        isas=options.isa or isas,
        threads=options.threads,
        scale=0.25 if options.all else 0.5 if options.quick else 1.0,
        jax=version is not None,
        micro=options.micro if options.micro.exists() else None,
    )
    chosen = choose(combinations() if options.all else contests(), options.only)
    if not chosen:
        parser.error(f"no row contains {options.only}")
    for missing, what in ((version, "JAX"), (setting.micro, f"{options.micro}, for the limit")):
        if missing is None:
            print(f"left out: {what}")
    rounds = options.rounds or (2 if options.all else 3 if options.quick else 9)
    found = compared(chosen, setting, rounds, cpu=options.cpu, jax=version)
    (show_worst if options.all else show_verdicts)(found.verdicts)
    return found.finish(options.json)


if __name__ == "__main__":
    sys.exit(main())
