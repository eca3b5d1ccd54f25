"""Compare the golden answers with what the package computes now, and remake them.

python tests/golden/make.py                   what is new, changed or orphaned
python tests/golden/make.py --write           the same, and rewrite the answers
python tests/golden/make.py --only formulas   those of formulas.json alone (or of answers.json)
python tests/golden/make.py --show TEXT       look at the cases whose names contain TEXT
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import cases
from cases import CASES, FORMULAS

#: The answers files, and whose bits they hold.
FILES = {"answers": CASES, "formulas": FORMULAS}


def computed(file: str, isa: str, threads: int) -> dict[str, dict[str, Any]]:
    """Compute every answer of a file."""
    chosen = FILES[file]
    made: dict[str, dict[str, Any]] = {
        "bits": {name: cases.digest(case.compute(isa, threads)) for name, case in chosen.items()},
        "experiments": cases.experiment_hashes(chosen),
    }
    if file == "answers":
        numbers = {name: cases.numbers_of(number) for name, number in cases.NUMBERS.items()}
        made["numbers"] = numbers
    return made


def differences(
    old: dict[str, dict[str, Any]], new: dict[str, dict[str, Any]]
) -> dict[str, list[str]]:
    """Return names, as section: name, that are new, changed and orphaned."""
    found: dict[str, list[str]] = {"new": [], "changed": [], "orphaned": []}
    for section in new:
        before, after = old.get(section, {}), new[section]
        for name in sorted({*before, *after}):
            label = f"{section}: {name}"
            if name not in before:
                found["new"].append(label)
            elif name not in after:
                found["orphaned"].append(label)
            elif section == "numbers":
                tolerance = cases.NUMBERS[name].tolerance
                if not cases.close(before[name], after[name], tolerance):
                    found["changed"].append(label)
            elif before[name] != after[name]:
                found["changed"].append(label)
    return found


def show(text: str, isa: str, threads: int) -> None:
    """Print what cases are and every array that they give, each with its own digest."""
    for name, case in {**CASES, **FORMULAS}.items():
        if text not in name:
            continue
        print(name)
        print(getattr(case, "experiment", case))
        for array, (dims, values) in sorted(case.compute(isa, threads).items()):
            own = cases.digest({array: (dims, values)})[:12]
            first = ", ".join(map(repr, values.ravel()[:4].tolist()))
            print(f"  {array:20} {own}  {values.dtype} {values.shape}: {first}, ...")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="rewrite the answers")
    parser.add_argument("--only", choices=FILES, help="look at one file of answers")
    parser.add_argument("--show", metavar="TEXT", help="print the cases with TEXT in their names")
    parser.add_argument("--isa", default="auto")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    if arguments.show is not None:
        show(arguments.show, arguments.isa, arguments.threads)
        return 0
    changed = False
    for file in [arguments.only] if arguments.only else FILES:
        changed |= compare(file, arguments.isa, arguments.threads, write=arguments.write)
    return 1 if changed and not arguments.write else 0


def compare(file: str, isa: str, threads: int, *, write: bool) -> bool:
    """Print what is different from a file of answers, which may be rewritten."""
    path = Path(__file__).with_name(f"{file}.json")
    old = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    new = computed(file, isa, threads)
    found = differences(old, new)
    for what, names in found.items():
        for name in names:
            print(f"{what:9} {name}")
    print(f"{path.name}:", ", ".join(f"{len(names)} {what}" for what, names in found.items()))
    if write:
        text = json.dumps(new, indent=1, sort_keys=True, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")
    return any(found.values())


if __name__ == "__main__":
    sys.exit(main())
