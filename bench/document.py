"""Write what compare.py has found into docs/benchmarks.md: the machine, the floors, the times.

    python bench/compare.py --json out.json
    python bench/document.py out.json && python bench/picture.py out.json

Everything between `<!-- name -->` and `<!-- /name -->` is replaced, and nothing else: a number in
the docs comes from here and from nowhere else.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
SETS = ("avx512", "avx2")
WHO = ("committal avx512", "committal avx2", "committal generic",
       "Numba", "Numba expert", "JAX", "JAX in blocks", "NumPy", "QuantEcon")  # fmt: skip


def machine(report: dict[str, Any]) -> str:
    """Say who made the numbers, when and how."""
    made = report["machine"]
    clock = {
        "wall": "time on the wall",
        "processor": "time of the processor, of all threads together and divided by their number",
    }[made["clock"]]
    peers = ", ".join(f"{name} {made[name.lower()]}" for name in ("NumPy", "Numba", "JAX"))
    return (
        f"{made['date']}: {made['processor']}, {made['threads']} threads (NumPy and QuantEcon: "
        f"one), kernels by {made['compiler']}; {peers}. {clock.capitalize()}; best of "
        f"{made['rounds']} rounds."
    )


def _number(x: float) -> str:
    return f"{x:.2f}" if x < 10 else f"{x:.1f}" if x < 100 else f"{x:.0f}"


def floors(report: dict[str, Any]) -> str:
    """Return the table of what was wanted: the ratio, its range over the rounds, the floor."""
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for contest in report["contests"]:
        for each in contest["verdicts"]:
            if each["wanted"] is None:
                continue
            sign = "≤" if each["at_most"] else "≥"
            met = "" if each["met"] else ", **missed**"
            if contest["unit"] in ("ms", "s"):  # not a ratio
                unit = contest["unit"]
                scale = 1e3 if unit == "ms" else 1.0
                took, most = scale * each["ratio"]["value"], scale * each["wanted"]
                cell = f"{took:.2f} {unit} ({sign} {most:g}{met})"
                rows[contest["name"], "itself"] = {SETS[0]: cell}
                continue
            ratio = each["ratio"]
            cell = f"{_number(ratio['value'])}× ({sign} {each['wanted']:g}{met})"
            rows.setdefault((contest["name"], each["claim"]), {})[each["isa"]] = cell
    lines = ["| work | time / time | AVX-512 | AVX2 |", "|---|---|---|---|"]
    for (work, claim), cells in rows.items():
        lines.append(f"| {work} | {claim} | {' | '.join(cells.get(isa, '') for isa in SETS)} |")
    return "\n".join(lines)


def times(report: dict[str, Any]) -> str:
    """Return the table of everybody's times."""
    who = [name for name in WHO if any(name in c["times"] for c in report["contests"])]
    heads = [name.replace("committal", "ours,") for name in who]
    lines = [f"| work | | {' | '.join(heads)} |", f"|---|---|{'---:|' * len(who)}"]
    for contest in report["contests"]:
        cells = [contest["times"].get(name) for name in who]
        if any(cell is not None for cell in cells):
            text = " | ".join("" if cell is None else _number(cell) for cell in cells)
            lines.append(f"| {contest['name']} | {contest['unit']} | {text} |")
    return "\n".join(lines)


def fill(page: str, name: str, content: str) -> str:
    """Replace what stands between the marks of a name."""
    marks = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    filled, count = marks.subn(lambda found: f"{found[1]}{content}\n{found[2]}", page)
    if count != 1:
        raise ValueError(f"the page has the marks of {name!r} {count} times")
    return filled


def main() -> None:
    """Fill the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", type=Path, help="what compare.py --json has written")
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args()
    report = json.loads(options.report.read_text())
    page = options.page.read_text()
    for name, content in (("machine", machine), ("floors", floors), ("times", times)):
        page = fill(page, name, content(report))
    options.page.write_text(page)
    print(f"wrote {options.page}")


if __name__ == "__main__":
    main()
