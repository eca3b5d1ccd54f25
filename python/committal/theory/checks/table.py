r"""Every claim of the paper that can be computed, computed.

Each claim is a function that recomputes what the paper says, in exact arithmetic where there is
an exact answer and by simulation where there is none, and returns the numbers with a verdict. A
claim that does not hold says so: the verdict is False, and the numbers show by how much.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from committal.errors import ConfigError
from committal.support import check

__all__ = ["Claim", "ClaimTable", "claims"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim, recomputed.

    Attributes
    ----------
    id : int
        Its number in the documentation.
    statement : str
        What is claimed.
    values : dict of str to float
        What was computed.
    tolerance : str
        What the values are held against.
    verdict : bool
        Whether the claim holds.
    seconds : float
        How long it took.
    """

    id: int
    statement: str
    values: dict[str, float]
    tolerance: str
    verdict: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class ClaimTable(Sequence[Claim]):
    """Claims in order; prints as a table.

    Attributes
    ----------
    rows : tuple of Claim

    Examples
    --------
    >>> table = claims([2])
    >>> table[0].verdict, len(table)
    (True, 1)
    """

    rows: tuple[Claim, ...]

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def verdict(self) -> bool:
        """Whether all of them hold."""
        return all(row.verdict for row in self.rows)

    def __str__(self) -> str:
        lines = []
        for row in self.rows:
            mark = "holds" if row.verdict else "FAILS"
            lines.append(f"{row.id:>2}  {mark}  {row.seconds:5.1f} s  {row.statement}")
            lines += [f"      {name}: {value:.6g}" for name, value in row.values.items()]
            lines.append(f"      held against: {row.tolerance}")
        total = sum(row.seconds for row in self.rows)
        good = sum(row.verdict for row in self.rows)
        lines.append(f"{good} of {len(self.rows)} claims hold, {total:.1f} s")
        return "\n".join(lines)


#: What a check returns: computed values and whether the claim holds.
Found = tuple[dict[str, float], bool]


@dataclass(frozen=True, slots=True)
class _Check:
    statement: str
    tolerance: str
    compute: Callable[[int], Found]


_CHECKS: dict[int, _Check] = {}


def claim(number: int, statement: str, tolerance: str) -> Callable[..., Callable[[int], Found]]:
    """Register a function that recomputes a claim."""

    def register(compute: Callable[[int], Found]) -> Callable[[int], Found]:
        _CHECKS[number] = _Check(statement, tolerance, compute)
        return compute

    return register


def claims(ids: Sequence[int] | None = None, *, rng: int = 0) -> ClaimTable:
    """Recompute the claims of the paper.

    Parameters
    ----------
    ids : sequence of int, optional
        Which; all by default. Claims 10, 12 and 13 are about whole learning curves and are not
        among them.
    rng : int, optional
        Seed of the simulations that some claims are compared with.

    Returns
    -------
    ClaimTable
        Prints as a table; all of them take well under a minute.

    Examples
    --------
    >>> print(claims([8]))  # doctest: +ELLIPSIS
     8  holds ...
    1 of 1 claims hold, ... s
    """
    wanted = sorted(_CHECKS)
    if ids is not None:
        given = check.vector("ids", ids)
        if not set(given) <= set(wanted):
            raise ConfigError("ids", ids, f"numbers among {wanted}")
        wanted = [int(number) for number in given]
    rng = check.integer("rng", rng, 0)
    return ClaimTable(tuple(_recompute(wanted, rng)))


def _recompute(wanted: list[int], rng: int) -> Iterator[Claim]:
    for number in wanted:
        found = _CHECKS[number]
        start = time.perf_counter()
        values, verdict = found.compute(rng)
        seconds = time.perf_counter() - start
        yield Claim(number, found.statement, values, found.tolerance, bool(verdict), seconds)
