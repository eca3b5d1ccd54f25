"""Gridworlds as drawings in text (SVG), for notebooks: no library draws them, no file is needed.

Walls, lines and letters have the colour of the text around, on light pages and on dark ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from committal.support.html import Html, escaped, joined

if TYPE_CHECKING:
    from committal.config.gridworld import Gridworld

# Larger maps are not drawn: their cells would be smaller than a pixel.
MOST_CELLS = 40_000
# Arrows on more cells than this are a texture.
_MOST_ARROWS = 2_500

_WIDTH, _SMALLEST, _LARGEST = 420.0, 4.0, 34.0
_GOAL, _INK = "#f6e3b4", "#222222"
# From low to high: dark blue, teal, yellow, of about the same steps in lightness.
_COLOURS = np.array([[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]])
_LEVELS = 64

Floats = npt.NDArray[np.float64]


def drawn(
    problem: Gridworld, values: Floats | None = None, policy: Floats | None = None
) -> Html | None:
    """Draw a map, coloured by values and with the arrows of a policy; None if it is too large.

    Parameters
    ----------
    problem : Gridworld
    values : float64[S], optional
        Dark is low; goals keep their own colour.
    policy : float64[S, A], optional
        An arrow is as long as its action is probable.

    Examples
    --------
    >>> from committal.config import gridworld
    >>> made = drawn(gridworld("S.A\\n##.", goals={"A": 1}))
    >>> made.startswith("<svg "), made.count("<text ")
    (True, 3)
    """
    rows = problem.rows
    height, width = len(rows), len(rows[0])
    if height * width > MOST_CELLS:
        return None
    pixels = min(max(_WIDTH / width, _SMALLEST), _LARGEST)
    parts: list[Html] = []
    ink = ["currentColor"] * problem.n_states
    if values is not None:
        parts += _coloured(problem, values, ink)
    parts += [_walls(rows), *_goals(problem), _lines(height, width)]
    if policy is not None and problem.n_states <= _MOST_ARROWS:
        parts += _arrows(problem, policy, ink)
    parts += _starts(problem, ink)
    label = f"a map of {height} rows and {width} columns"
    return Html(
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{label}" '
        f'viewBox="-0.05 -0.05 {width + 0.1:g} {height + 0.1:g}" width="{pixels * width:.0f}" '
        f'height="{pixels * height:.0f}" style="display:block;margin:0.4em 0;max-width:100%" '
        f'font-family="sans-serif" text-anchor="middle">{joined(parts)}</svg>'
    )


def _square(row: int, column: int, length: int = 1) -> str:
    return f"M{column} {row}h{length}v1h-{length}z"


def _walls(rows: tuple[str, ...]) -> Html:
    d = "".join(_square(*run) for run in _runs(rows))
    return Html(f'<path d="{d}" fill="currentColor" fill-opacity="0.65"/>')


def _runs(rows: tuple[str, ...]) -> Iterator[tuple[int, int, int]]:
    """Walls beside each other: row, first column, how many."""
    for r, row in enumerate(rows):
        c = 0
        while c < len(row):
            end = c
            while end < len(row) and row[end] == "#":
                end += 1
            if end > c:
                yield r, c, end - c
            c = end + 1


def _lines(height: int, width: int) -> Html:
    across = "".join(f"M0 {r}h{width}" for r in range(height + 1))
    down = "".join(f"M{c} 0v{height}" for c in range(width + 1))
    look = 'stroke="currentColor" stroke-opacity="0.35" stroke-width="0.02"'
    return Html(f'<path d="{across}{down}" {look}/>')


def _coloured(problem: Gridworld, values: Floats, ink: list[str]) -> list[Html]:
    """Colour the cells that are acted in, and say in which ink one writes on each."""
    acting = np.flatnonzero(~problem.is_terminal)
    low, high = float(values[acting].min()), float(values[acting].max())
    share = (values - low) / (high - low) if high > low else np.zeros(values.size)
    cells: dict[int, list[str]] = defaultdict(list)
    for s in acting:
        level = round(float(share[s]) * _LEVELS)
        cells[level].append(_square(*problem.cells[s]))
        ink[s] = "#ffffff" if level < 0.65 * _LEVELS else _INK
    return [
        Html(f'<path d="{"".join(squares)}" fill="{_colour(level / _LEVELS)}"/>')
        for level, squares in sorted(cells.items())
    ]


def _colour(share: float) -> str:
    at = np.linspace(0.0, 1.0, len(_COLOURS))
    red, green, blue = (round(float(np.interp(share, at, column))) for column in _COLOURS.T)
    return f"#{red:02x}{green:02x}{blue:02x}"


def _goals(problem: Gridworld) -> Iterator[Html]:
    rewards = dict(problem.rewards)
    for s in problem.terminal:
        row, column = problem.cells[s]
        letter = problem.letter(s)
        reward = f"{rewards[letter]:g}"
        size = min(0.32, 1.5 / len(reward))  # long numbers are small, and stay in their cell
        yield Html(
            f'<path d="{_square(row, column)}" fill="{_GOAL}"/>'
            f'<g fill="{_INK}" font-weight="bold">'
            f'<text x="{column + 0.5}" y="{row + 0.45}" font-size="0.42">{escaped(letter)}</text>'
            f'<text x="{column + 0.5}" y="{row + 0.85}" font-size="{size:.2f}">{reward}</text></g>'
        )


def _arrows(problem: Gridworld, policy: Floats, ink: list[str]) -> list[Html]:
    from committal.config.gridworld import MOVES  # it draws itself: it imports this file

    lines: dict[str, list[str]] = defaultdict(list)
    for s in np.flatnonzero(~problem.is_terminal):
        row, column = problem.cells[s]
        for (down, right), p in zip(MOVES.values(), policy[s].tolist(), strict=True):
            if p < 0.02:
                continue  # shorter than its head
            tip, head = 0.45 * p, 0.14 * p
            x, y = column + 0.5, row + 0.5
            back_x, back_y = -head * right, -head * down
            lines[ink[s]].append(
                f"M{x:g} {y:g}l{tip * right:.2f} {tip * down:.2f}"
                f"m{back_x - head * down:.2f} {back_y - head * right:.2f}"
                f"l{head * (right + down):.2f} {head * (down + right):.2f}"
                f"l{back_x + head * down:.2f} {back_y + head * right:.2f}"
            )
    look = 'fill="none" stroke-width="0.05" stroke-linejoin="round" stroke-linecap="round"'
    return [
        Html(f'<path d="{"".join(d)}" stroke="{colour}" {look}/>') for colour, d in lines.items()
    ]


def _starts(problem: Gridworld, ink: list[str]) -> Iterator[Html]:
    for s in np.flatnonzero(problem.start_distribution):
        row, column = problem.cells[s]
        yield Html(
            f'<text x="{column + 0.22}" y="{row + 0.42}" font-size="0.4" font-weight="bold" '
            f'fill="{ink[s]}">{escaped(problem.start_letter)}</text>'
        )
