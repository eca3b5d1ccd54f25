"""The paper's gridworlds."""

from __future__ import annotations

from committal.config.gridworld import Gridworld, gridworld

__all__ = ["five_by_five", "four_rooms"]


def four_rooms() -> Gridworld:
    """Four rooms with a goal in each but the first: 14 moves to the best one, 10 to the others.

    Examples
    --------
    >>> for goal, path in four_rooms().shortest_paths().items():
    ...     print(goal, path.moves, f"{path.value:.4f}")
    A 10 0.5426
    B 10 0.2713
    C 14 0.8687
    """
    return gridworld(
        """
        ##########
        #S...#...#
        #....#...#
        #........#
        #....#..A#
        ##.####.##
        #....#...#
        #........#
        #...B#..C#
        ##########
        """,
        goals={"A": 0.6, "B": 0.3, "C": 1.0},
    )


def five_by_five() -> Gridworld:
    """An open square: a goal of 0.8 in the near corner and one of 1 in the far corner.

    Examples
    --------
    >>> {goal: path.moves for goal, path in five_by_five().shortest_paths().items()}
    {'A': 4, 'B': 8}
    """
    return gridworld(
        """
        S...A
        .....
        .....
        .....
        ....B
        """,
        goals={"A": 0.8, "B": 1.0},
    )
