"""Draw nanoseconds against the number of arms, from what compare.py has written.

python bench/compare.py --only "natural, value, K=" --json out.json
python bench/picture.py out.json --out docs/benchmarks.svg
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

ROWS = "natural, value, K="
NAMES = {"JAX": "JAX, all runs at once"}
# From light to dark as registers get wider; the others grey, told apart by their marks.
OURS = {"generic": "#9ecae1", "avx2": "#3182bd", "avx512": "#08306b"}
OTHERS = {"NumPy": "v", "Numba": "s", "Numba expert": "D", "JAX": "^", "JAX in blocks": "o"}


def curves(report: dict) -> dict[str, list[tuple[int, float]]]:  # type: ignore[type-arg]
    """Return (arms, ns) for everybody, by name."""
    found: dict[str, list[tuple[int, float]]] = {}
    for contest in report["contests"]:
        head, _, arms = contest["name"].partition(ROWS)
        if head or not arms.isdigit():
            continue
        for name, ns in contest["times"].items():
            if "thread" not in name and "limit" not in name:
                found.setdefault(name, []).append((int(arms), ns))
    return {name: sorted(points) for name, points in found.items()}


def draw(report: dict) -> Figure:  # type: ignore[type-arg]
    """One line each, on logarithmic axes."""
    machine = report["machine"]
    figure = Figure(figsize=(7.2, 4.6), layout="constrained")
    ax = figure.add_subplot()
    for name, points in curves(report).items():
        arms, ns = zip(*points, strict=True)
        isa = name.removeprefix("committal ")
        if isa in OURS:
            style = {"color": OURS[isa], "marker": ".", "linewidth": 2.2, "label": f"ours, {isa}"}
        else:
            style = {"color": "0.55", "marker": OTHERS[name], "markersize": 4, "linewidth": 1,
                     "label": NAMES.get(name, name)}  # fmt: skip
        ax.plot(arms, ns, **style)
    ax.set(xscale="log", yscale="log", xlabel="arms K", ylabel="ns per run and update")
    ax.grid(which="major", color="0.92")
    ax.spines[["top", "right"]].set_visible(False)
    ticks = sorted({arms for points in curves(report).values() for arms, _ in points})
    ax.set_xticks(ticks, [str(arms) for arms in ticks])
    ax.minorticks_off()
    ax.legend(frameon=False, fontsize="small", loc="upper left")
    ax.set_title(
        f"natural gradient, value baseline: {machine['processor']}, {machine['threads']} threads "
        f"(NumPy: one), {machine['date']}",
        fontsize="small",
        loc="left",
    )
    return figure


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", type=Path, help="what compare.py --json has written")
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks.svg"))
    options = parser.parse_args()
    # The same numbers give the same file.
    mpl.rcParams.update({"svg.hashsalt": "committal", "svg.fonttype": "none"})
    figure = draw(json.loads(options.report.read_text()))
    figure.savefig(options.out, metadata={"Date": None})
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
