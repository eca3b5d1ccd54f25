"""Fail if a kernel has become slower, without looking at a clock on the wall.

    python bench/micro/guard.py build/bench/committal_micro
    python bench/micro/guard.py build/bench/committal_micro --remake

Two things are looked at. Instructions, which valgrind counts (generic and AVX2) and which are the
same on every machine: more than a tenth above those stored in counts.json, by the same compiler, is
a failure; --remake stores what there is now. And the time on AVX2 over that on AVX-512, both
measured in the same moment: a register of AVX2 holds half as many numbers, so more than twice the
time is a failure. Noise cannot make it one: what is too slow is measured again, several times, and
the best counts. Where valgrind, its header or AVX-512 is missing, that part is left out, in words.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from counts import Counts, compiler, counted, why_not

STORED = Path(__file__).parent / "counts.json"
WORSE = 1.1  # times the instructions stored
BEHIND = 2.0  # times the time of the set that is twice as wide
SLACK = 1.1  # two measurements of the same differ by less
TRIES = 6
SECONDS = 0.02  # of one measurement

# Kernels that AVX2 may take longer for: how many times as long, and why.
MORE_BEHIND: dict[str, tuple[float, str]] = {}


def judge_counts(found: Counts, stored: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Name the kernels that need more instructions than they did, or that nobody has counted."""
    wrong = []
    for (isa, name), count in found.items():
        before = stored.get(isa, {}).get(name)
        if before is None:
            wrong.append(f"{name} ({isa}) is not in {STORED.name}: --remake")
        elif count > WORSE * before:
            more = 100 * (count / before - 1)
            wrong.append(
                f"{name} ({isa}): {count:.2f} instructions per run, {more:.0f} % more "
                f"than the {before:.2f} stored"
            )
    return wrong


def allowed(name: str) -> float:
    """Times the time of AVX-512 that AVX2 may take."""
    return SLACK * MORE_BEHIND.get(name, (BEHIND, ""))[0]


def judge_ratios(measure: Callable[[list[str]], dict[str, float]]) -> list[str]:
    """Name the kernels that AVX2 takes too long for, whenever they are measured."""
    best = dict(measure([]))
    for name, (_, why) in MORE_BEHIND.items():
        if best.get(name, BEHIND) < 0.9 * BEHIND:
            print(f"  {name}: only {best[name]:.2f} times as long; no longer needed? ({why})")
    for _ in range(TRIES - 1):
        slow = [name for name, ratio in best.items() if ratio > allowed(name)]
        if not slow:
            break
        for name, ratio in measure(slow).items():
            best[name] = min(best[name], ratio)
    return [
        f"{name}: AVX2 takes {ratio:.2f} times as long as AVX-512, more than {allowed(name):.2f}"
        for name, ratio in best.items()
        if ratio > allowed(name)
    ]


def times(program: Path, isa: str, names: list[str]) -> dict[str, float]:
    """Nanoseconds per run of kernels, of all if none is named."""
    command = [program, *names, "--isa", isa, "--seconds", str(SECONDS), "--plain"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = (line.split("\t") for line in done.stdout.splitlines())
    return {name: float(ns) for _, name, ns in rows}


def has_avx512(program: Path) -> bool:
    """Say whether program and machine know AVX-512."""
    command = [program, "exp", "--isa", "avx512", "--list"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def show_better(found: Counts, stored: Mapping[str, Mapping[str, float]]) -> None:
    """Say which kernels need fewer instructions than stored: what is gained could be lost again."""
    for (isa, name), count in found.items():
        before = stored.get(isa, {}).get(name, count)
        if count * WORSE < before:
            print(f"  {name} ({isa}): {count:.2f}, no longer {before:.2f}; --remake keeps it so")


def remake(stored: dict[str, dict[str, dict[str, float]]], made_by: str, found: Counts) -> int:
    """Store the counts of a compiler."""
    kept: dict[str, dict[str, float]] = {}
    for (isa, name), count in found.items():
        kept.setdefault(isa, {})[name] = round(count, 2)
    STORED.write_text(json.dumps(stored | {made_by: kept}, indent=1) + "\n")
    print(f"{STORED.name}: {len(found)} counts by {made_by}")
    return 0


def main() -> int:
    """Judge, and say what was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program", type=Path)
    parser.add_argument("--remake", action="store_true", help="store the counts of now")
    options = parser.parse_args()
    program: Path = options.program.resolve()
    stored: dict[str, dict[str, dict[str, float]]] = (
        json.loads(STORED.read_text()) if STORED.exists() else {}
    )
    missing = why_not(program)
    wrong: list[str] = []
    if missing is not None:
        print(f"instructions: left out, {missing}")
        if options.remake or not program.exists():
            return 1
    else:
        made_by, found = compiler(program), counted(program)
        if options.remake:
            return remake(stored, made_by, found)
        if made_by in stored:
            wrong += judge_counts(found, stored[made_by])
            print(f"instructions: {len(found)} counts by {made_by}")
            show_better(found, stored[made_by])
        else:
            print(f"instructions: left out, none are stored for {made_by}")
    if has_avx512(program):

        def ratios(names: list[str]) -> dict[str, float]:
            narrow, wide = (times(program, isa, names) for isa in ("avx2", "avx512"))
            return {name: narrow[name] / wide[name] for name in narrow}

        wrong += judge_ratios(ratios)
        print("AVX2 against AVX-512: measured")
    else:
        print("AVX2 against AVX-512: left out, there is no AVX-512 here")
    for line in wrong:
        print(f"slower: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
