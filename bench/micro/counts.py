"""Count the instructions of the micro-benchmarks with valgrind, which AVX-512 is unknown to.

    python bench/micro/counts.py build/bench/committal_micro

prints instructions per run for every kernel and instruction set, beside the fewest that its formula
needs where that can be said simply. Counts do not depend on the machine or on what else runs there.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

#: (instruction set, kernel): instructions per run
Counts = dict[tuple[str, str], float]


def why_not(program: Path) -> str | None:
    """Say what is missing for counting; None if nothing is."""
    if not program.exists():
        return f"{program} is not built (cmake --preset bench && cmake --build --preset bench)"
    if shutil.which("valgrind") is None:
        return "valgrind is not installed"
    if subprocess.run([program, "exp", "--count"], capture_output=True, check=False).returncode:
        return f"{program} was built without valgrind/callgrind.h"
    return None


def counted(program: Path) -> Counts:
    """Run all micro-benchmarks under callgrind, which writes one file for each."""
    with tempfile.TemporaryDirectory() as directory:
        out = Path(directory) / "out"
        command = ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}"]
        done = subprocess.run(
            [*command, program, "--count"], capture_output=True, text=True, check=True
        )
        units = {}
        for line in done.stdout.splitlines():
            isa, name, count = line.split("\t")
            units[isa, name] = float(count)
        found: Counts = {}
        for file in Path(directory).glob("out.*"):
            key, total = _read(file)
            if key in units:
                found[key] = total / units[key]
    return {key: found[key] for key in units}


def _read(file: Path) -> tuple[tuple[str, str], float]:
    """Return which kernel a file of callgrind is about, and its instructions."""
    key, total = ("", ""), 0.0
    for line in file.read_text().splitlines():
        if line.startswith("desc: Trigger: Client Request: "):
            isa, _, name = line.removeprefix("desc: Trigger: Client Request: ").partition("\t")
            key = (isa, name)
        elif line.startswith("summary: "):
            total = float(line.split()[1])
    return key, total


def compiler(program: Path) -> str:
    """Name the compiler that the program was built with, as far as counts depend on it."""
    done = subprocess.run([program, "--compiler"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def least(program: Path) -> Counts:
    """Return the fewest instructions that formulas need, where that is known."""
    done = subprocess.run([program, "--list"], capture_output=True, text=True, check=True)
    rows = (line.split("\t") for line in done.stdout.splitlines())
    return {(isa, name): float(count) for isa, name, count in rows if float(count) > 0}


def main() -> int:
    """Print the table."""
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    program = Path(sys.argv[1])
    missing = why_not(program)
    if missing is not None:
        print(f"not counted: {missing}")
        return 1
    known = least(program)
    print(f"{'kernel':<42} {'set':<8} {'per run':>10} {'at least':>10}")
    for (isa, name), count in counted(program).items():
        few = f"{known[isa, name]:10.2f}" if (isa, name) in known else ""
        print(f"{name:<42} {isa:<8} {count:10.2f} {few}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
