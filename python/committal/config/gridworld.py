"""Gridworlds: MDPs drawn as text."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from committal.config.base import config
from committal.config.drawing import drawn
from committal.config.mdp import DISCOUNT, TabularMDP
from committal.config.transitions import Names, compress, entries_of
from committal.errors import ConfigError, ConfigTypeError
from committal.support import check, html, limits

__all__ = ["Gridworld", "ShortestPath", "gridworld"]

WALL, FLOOR = "#", "."

#: The four actions and where they lead, as (rows down, columns right).
MOVES = {"up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1)}


class ShortestPath(NamedTuple):
    """The least number of moves from the start to a goal, and the return of going that way."""

    moves: int
    value: float


@config
class Gridworld(TabularMDP):
    """gamma^n r_g for reaching goal g in n moves: an MDP that keeps its map.

    See `gridworld`, which makes them.
    """

    text: str
    rewards: tuple[tuple[str, float], ...]
    slip: float
    step_reward: float
    start_letter: str
    cells: tuple[tuple[int, int], ...]

    _positional = 1

    def __init__(
        self,
        text: str | Sequence[str],
        goals: Mapping[str, check.Number],
        gamma: check.Number = 0.99,
        slip: check.Number = 0.0,
        step_reward: check.Number = 0.0,
        limit: check.Integer = 100,
        start: str = "S",
    ) -> None:
        rewards = _checked_goals(goals)
        if not isinstance(start, str) or len(start) != 1 or start in (WALL, FLOOR, *rewards):
            raise ConfigError(
                "Gridworld.start", start, "one character, not '#', '.' or the letter of a goal"
            )
        rows = _checked_map(text, rewards, start)
        gamma = check.number("Gridworld.gamma", gamma, DISCOUNT)
        slip = check.number("Gridworld.slip", slip, check.UNIT)
        step_reward = check.number("Gridworld.step_reward", step_reward)

        cells = tuple(
            (r, c) for r, row in enumerate(rows) for c, cell in enumerate(row) if cell != WALL
        )
        letters = [rows[r][c] for r, c in cells]
        terminal = tuple(s for s, letter in enumerate(letters) if letter in rewards)
        starts = [s for s, letter in enumerate(letters) if letter == start]
        number = {cell: s for s, cell in enumerate(cells)}
        outcomes = [
            (s, a, after, p, step_reward + gamma * rewards.get(letters[after], 0.0))
            for s, (r, c) in enumerate(cells)
            if letters[s] not in rewards
            for a in range(len(MOVES))
            for p, (down, right) in _directions(a, slip)
            # A move into a wall or off the map leads nowhere.
            for after in (number.get((r + down, c + right), s),)
        ]
        entries = entries_of(len(cells), len(MOVES), outcomes)
        self._store(
            compress(entries, terminal, Names(actions=tuple(MOVES))),
            gamma=gamma,
            start=starts[0] if len(starts) == 1 else _uniform(starts, len(cells)),
            terminal=terminal,
            limit=check.integer("Gridworld.limit", limit, 1, limits.EPISODE),
            states=tuple(f"{r},{c}" for r, c in cells),
            actions=tuple(MOVES),
            text="\n".join(rows),
            rewards=tuple(sorted(rewards.items())),
            slip=slip,
            step_reward=step_reward,
            start_letter=start,
            cells=cells,
        )

    def _arguments(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "goals": dict(self.rewards),
            "gamma": self.gamma,
            "slip": self.slip,
            "step_reward": self.step_reward,
            "limit": self.limit,
            "start": self.start_letter,
        }

    # A dataclass compares field by field unless told otherwise, in every subclass anew.
    __eq__ = TabularMDP.__eq__
    __hash__ = TabularMDP.__hash__

    @property
    def rows(self) -> tuple[str, ...]:
        """The map, row by row.

        Examples
        --------
        >>> gridworld("S.A", goals={"A": 1}).rows
        ('S.A',)
        """
        return tuple(self.text.split("\n"))

    @property
    def goals(self) -> tuple[str, ...]:
        """The letters of the goals by index of their state; with the position if one repeats.

        Examples
        --------
        >>> gridworld("S.A\\n..B", goals={"A": 1, "B": 0.5}).goals
        ('A', 'B')
        >>> gridworld("A.S.A", goals={"A": 1}).goals
        ('A 0,0', 'A 0,4')
        """
        letters = [self.letter(s) for s in self.terminal]
        return tuple(
            letter if letters.count(letter) == 1 else f"{letter} {self.states[s]}"
            for s, letter in zip(self.terminal, letters, strict=True)
        )

    def letter(self, state: int) -> str:
        """Return the character of a state on the map.

        Examples
        --------
        >>> gridworld("S.A", goals={"A": 1}).letter(2)
        'A'
        """
        row, column = self.position(state)
        return self.rows[row][column]

    def position(self, state: int) -> tuple[int, int]:
        """Return (row, column) of a state.

        Examples
        --------
        >>> gridworld("S#A\\n...", goals={"A": 1}).position(1)
        (0, 2)
        """
        return self.cells[check.integer("state", state, 0, self.n_states - 1)]

    def state_at(self, row: int, column: int) -> int:
        """Return the state at (row, column).

        Examples
        --------
        >>> gridworld("S#A\\n...", goals={"A": 1}).state_at(0, 2)
        1
        """
        row, column = check.integer("row", row, 0), check.integer("column", column, 0)
        try:
            return self.cells.index((row, column))
        except ValueError:
            raise ConfigError(
                "(row, column)", (row, column), "a position inside the map that is not a wall"
            ) from None

    def shortest_paths(self) -> dict[str, ShortestPath]:
        """Return, by goal, the moves of the shortest path from the start and its return.

        The return is gamma^n r_g, plus the step rewards, of n moves that do not slip. Goals that
        cannot be reached are left out: another goal, where episodes end, may be in the way.

        Examples
        --------
        >>> gridworld("S..\\n##A", goals={"A": 1}, gamma=0.5).shortest_paths()
        {'A': ShortestPath(moves=3, value=0.125)}
        """
        moves = self._moves_from_start()
        rewards = dict(self.rewards)
        found = {}
        for goal, s in zip(self.goals, self.terminal, strict=True):
            if s in moves:
                n = moves[s]
                steps = math.fsum(self.step_reward * self.gamma**i for i in range(n))
                value = self.gamma**n * rewards[self.letter(s)] + steps
                found[goal] = ShortestPath(n, value)
        return found

    def _repr_html_(self) -> str:
        size = f"{len(self.rows)} × {len(self.rows[0])}, {self.n_states} states"
        return html.page(f"Gridworld, {size}", self._in_page())

    def _in_page(self) -> html.Html:
        known = {"γ": f"{self.gamma:g}", "limit": f"{self.limit} moves"}
        if self.slip:
            known["slip"] = f"{self.slip:g}"
        if self.step_reward:
            known["step reward"] = f"{self.step_reward:g}"
        words = ", ".join(f"{name} = {value}" for name, value in known.items())
        drawing = drawn(self) or html.folded("the map as text", html.lines(self.text))
        return html.joined([drawing, html.Html("<div>"), words, html.Html("</div>")])

    def _moves_from_start(self) -> dict[int, int]:
        number = {cell: s for s, cell in enumerate(self.cells)}
        ended = set(self.terminal)
        moves = {int(s): 0 for s in np.flatnonzero(self.start_distribution)}
        frontier = list(moves)
        while frontier:
            reached = []
            for s in frontier:
                r, c = self.cells[s]
                for down, right in MOVES.values():
                    after = number.get((r + down, c + right))
                    if s not in ended and after is not None and after not in moves:
                        moves[after] = moves[s] + 1
                        reached.append(after)
            frontier = reached
        return moves


def gridworld(
    text: str | Sequence[str],
    goals: Mapping[str, check.Number],
    gamma: check.Number = 0.99,
    slip: check.Number = 0.0,
    step_reward: check.Number = 0.0,
    limit: check.Integer = 100,
    start: str = "S",
) -> Gridworld:
    """gamma^n r_g for reaching goal g in n moves: read a gridworld from its map.

    Parameters
    ----------
    text
        The map: a string with one line per row, or the rows. ``#`` is a wall, ``.`` is floor,
        every other character is the start or a goal. Blank lines around the map and common
        indentation are removed.
    goals
        The rewards of the goals, by letter. Goals are terminal.
    gamma
        The discount, in [0, 1).
    slip
        With this probability a move goes in one of the two perpendicular directions instead,
        each with half of it.
    step_reward
        Paid for every move, also for the one that reaches a goal.
    limit
        Sampled episodes are cut after this many moves.
    start
        The letter of the start; where it occurs several times, each is equally likely.

    Returns
    -------
    Gridworld
        A `TabularMDP` whose states are the cells that are not walls, in reading order, and whose
        actions are up, right, down and left. A move into a wall or off the map stays.

    Notes
    -----
    Step i = 0, 1, ... is discounted by gamma^i, so the step into a goal pays gamma r_g: the paper
    counts a goal after n moves as gamma^n r_g.

    Examples
    --------
    >>> grid = gridworld(
    ...     '''
    ...     S..A
    ...     .#.B
    ...     ''',
    ...     goals={"A": 1.0, "B": 0.5},
    ... )
    >>> grid.n_states, grid.goals
    (7, ('A', 'B'))
    >>> round(grid.shortest_paths()["A"].value, 6)
    0.970299
    """
    return Gridworld(text, goals, gamma, slip, step_reward, limit, start)


def _directions(action: int, slip: float) -> list[tuple[float, tuple[int, int]]]:
    """Return (probability, direction) of the move of an action and of its slips."""
    moves = list(MOVES.values())
    # In the order of MOVES, neighbours are perpendicular.
    sides = (moves[action - 1], moves[(action + 1) % len(moves)])
    return [(1.0 - slip, moves[action]), *((slip / 2.0, side) for side in sides)]


def _uniform(states: list[int], count: int) -> tuple[float, ...]:
    rho = [0.0] * count
    for s in states:
        rho[s] = 1.0 / len(states)
    return tuple(rho)


def _checked_goals(goals: object) -> dict[str, float]:
    if not isinstance(goals, Mapping):
        raise ConfigTypeError("Gridworld.goals", goals, "a mapping from letters to rewards")
    rewards = {}
    for letter, reward in goals.items():
        if (
            not isinstance(letter, str)
            or len(letter) != 1
            or letter in (WALL, FLOOR)
            or letter.isspace()
        ):
            raise ConfigError(
                "Gridworld.goals", letter, "single characters other than '#', '.' and spaces"
            )
        rewards[letter] = check.number(f"Gridworld.goals[{letter!r}]", reward)
    return rewards


def _checked_map(text: object, goals: Mapping[str, float], start: str) -> list[str]:
    argument = "Gridworld.text"
    if isinstance(text, Sequence) and not isinstance(text, (str, bytes)):
        if not all(isinstance(row, str) for row in text):
            raise ConfigTypeError(argument, text, "a string, or a sequence of rows")
        text = "\n".join(text)
    if not isinstance(text, str):
        raise ConfigTypeError(argument, text, "a string, or a sequence of rows")
    lines = textwrap.dedent(text).split("\n")
    rows = [line.rstrip() for line in lines]
    while rows and not rows[0]:
        del rows[0]
    while rows and not rows[-1]:
        del rows[-1]
    if not rows:
        raise ConfigError(argument, text, "a map with at least one row")
    for index, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise ConfigError(
                f"{argument} row {index}", row, f"{len(rows[0])} characters, as in the first row"
            )
        for cell in row:
            if cell not in (WALL, FLOOR, start, *goals):
                raise ConfigError(
                    f"{argument} row {index}",
                    cell,
                    f"'#', '.', the start {start!r} or one of the goals "
                    + ", ".join(map(repr, goals)),
                )
    cells = "".join(rows)
    if start not in cells:
        raise ConfigError(argument, text, f"a map with the start {start!r}")
    for letter in goals:
        if letter not in cells:
            raise ConfigError("Gridworld.goals", letter, "letters that are on the map")
    return rows
