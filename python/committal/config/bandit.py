"""Bandits: arms that pay rewards."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from committal.config.base import config
from committal.config.problem import Problem
from committal.config.quantities import BANDIT_QUANTITIES
from committal.errors import ConfigError, ConfigTypeError
from committal.support import check, limits

__all__ = ["Bandit"]

#: What `Bandit.noise` may be, besides None.
NOISES = ("bernoulli", "gaussian", "uniform", "table")

#: Per arm, (value, probability) pairs.
RewardTable: TypeAlias = Sequence[Sequence[Sequence[check.Number]]] | npt.NDArray[Any]

_StoredTable: TypeAlias = tuple[tuple[tuple[float, float], ...], ...]


@config
class Bandit(Problem):
    """J(pi) = sum_a pi(a) r_a: K arms, arm a pays a reward of mean r_a.

    Parameters
    ----------
    means
        The mean rewards r_1, ..., r_K. May be None for ``noise="table"``.
    noise
        The law of the reward of an arm with mean r:

        - None: r itself, always;
        - ``"bernoulli"``: 1 with probability r, otherwise 0; the means are in [0, 1];
        - ``"gaussian"``: normal with standard deviation `sigma`;
        - ``"uniform"``: uniform on [r - half_width, r + half_width];
        - ``"table"``: the values and probabilities of `table`.
    sigma, half_width
        One number >= 0 for all arms, or one per arm; stored per arm.
    table
        Per arm, (value, probability) pairs; each arm's probabilities sum to 1 within 1e-9.
    names
        Names of the arms; by default ``"arm 1"``, ``"arm 2"``, ...

    Examples
    --------
    >>> bandit = Bandit([1.0, 0.7, 0.0])
    >>> bandit.arms, bandit.best, round(bandit.gap, 3)
    (3, 0, 0.3)
    >>> bandit.names
    ('arm 1', 'arm 2', 'arm 3')
    >>> Bandit([0.5, 0.2], noise="gaussian", sigma=1).sigma
    (1.0, 1.0)
    >>> Bandit.from_table([[(0, 0.5), (2, 0.5)], [(0.3, 1.0)]]).means
    (1.0, 0.3)
    """

    means: tuple[float, ...]
    noise: str | None
    sigma: tuple[float, ...] | None
    half_width: tuple[float, ...] | None
    table: _StoredTable | None
    names: tuple[str, ...]

    _positional = 1

    def __init__(
        self,
        means: check.Numbers | None = None,
        noise: str | None = None,
        sigma: check.Number | check.Numbers | None = None,
        half_width: check.Number | check.Numbers | None = None,
        table: RewardTable | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        if noise is not None:
            noise = check.choice("Bandit.noise", noise, NOISES)
        # Each law has one parameter of its own: it is required there and refused elsewhere.
        for owner, argument, value in (
            ("gaussian", "sigma", sigma),
            ("uniform", "half_width", half_width),
            ("table", "table", table),
        ):
            if noise == owner and value is None:
                raise ConfigError(f"Bandit.{argument}", value, f"a value, for noise={noise!r}")
            if noise != owner and value is not None:
                raise ConfigError(
                    f"Bandit.{argument}", value, f"None unless noise={owner!r} (it is {noise!r})"
                )

        if table is not None:
            stored_table = _checked_table(table)
            stored_means = _table_means(stored_table)
            if means is not None:
                _check_given_means(means, stored_means)
        else:
            stored_table = None
            interval = check.UNIT if noise == "bernoulli" else check.ANY
            stored_means = check.vector("Bandit.means", means, interval, least=1, noun="arm")

        arms = len(stored_means)
        self._set(
            means=stored_means,
            noise=noise,
            sigma=_per_arm("Bandit.sigma", sigma, arms),
            half_width=_per_arm("Bandit.half_width", half_width, arms),
            table=stored_table,
            names=_default_names(arms) if names is None else _checked_names(names, arms),
        )

    @classmethod
    def from_table(cls, table: RewardTable, names: Sequence[str] | None = None) -> Self:
        """Make a bandit whose arms pay finitely many values.

        Parameters
        ----------
        table
            Per arm, (value, probability) pairs.
        names
            Names of the arms.

        Examples
        --------
        >>> Bandit.from_table([[(1, 0.5), (0, 0.5)], [(0.4, 1)]])
        Bandit(noise='table', table=(((1.0, 0.5), (0.0, 0.5)), ((0.4, 1.0),)))
        """
        return cls(None, noise="table", table=table, names=names)

    def _arguments(self) -> dict[str, Any]:
        # In simplest form: what the constructor would compute or repeat is left out, so that
        # equal bandits have one text form and `replace` may change the number of arms.
        default = self.names == _default_names(self.arms)
        return {
            "means": self.means if self.table is None else None,
            "noise": self.noise,
            "sigma": _one_if_equal(self.sigma),
            "half_width": _one_if_equal(self.half_width),
            "table": self.table,
            "names": None if default else self.names,
        }

    @property
    def arms(self) -> int:
        """The number K of arms.

        Examples
        --------
        >>> Bandit([1, 0]).arms
        2
        """
        return len(self.means)

    quantities = BANDIT_QUANTITIES
    recorded_by_default = ("value", "policy")

    @property
    def best(self) -> int:
        """The index of the arm of largest mean; of the first of them if several are equal.

        Examples
        --------
        >>> Bandit([0, 1, 1]).best
        1
        """
        return int(np.argmax(np.array(self.means)))

    @property
    def gap(self) -> float:
        """The best mean minus the second best; 0 if two arms are best.

        Examples
        --------
        >>> Bandit([1, 0.75]).gap, Bandit([1, 1]).gap
        (0.25, 0.0)
        """
        if self.arms < 2:
            raise ConfigError("Bandit.means", self.means, "two arms or more, to have a gap")
        second, best = np.partition(np.array(self.means), -2)[-2:]
        return float(best) - float(second)

    @property
    def reward_variances(self) -> tuple[float, ...]:
        """The variance of each arm's reward.

        Examples
        --------
        >>> Bandit([0.5, 1.0], noise="bernoulli").reward_variances
        (0.25, 0.0)
        """
        r = np.array(self.means)
        if self.noise == "bernoulli":
            return tuple((r * (1.0 - r)).tolist())
        if self.sigma is not None:
            return tuple(s * s for s in self.sigma)
        if self.half_width is not None:
            return tuple(h * h / 3.0 for h in self.half_width)
        if self.table is not None:
            return tuple(
                math.fsum(p * (value - mean) ** 2 for value, p in arm)
                for mean, arm in zip(self.means, self.table, strict=True)
            )
        return (0.0,) * self.arms


@functools.lru_cache(maxsize=4)
def _default_names(arms: int) -> tuple[str, ...]:
    return tuple(f"arm {i}" for i in range(1, arms + 1))


def _checked_names(names: object, arms: int) -> tuple[str, ...]:
    allowed = f"{arms} different non-empty strings, one per arm"
    if isinstance(names, np.ndarray):
        names = names.tolist()
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise ConfigTypeError("Bandit.names", names, allowed)
    if not all(isinstance(name, str) for name in names):
        raise ConfigTypeError("Bandit.names", names, allowed)
    stored = tuple(str(name) for name in names)
    if len(stored) != arms or len(set(stored)) != arms or "" in stored:
        raise ConfigError("Bandit.names", names, allowed)
    return stored


def _per_arm(argument: str, value: object, arms: int) -> tuple[float, ...] | None:
    if value is None:
        return None
    if isinstance(value, Sequence) or check.ndim(value) != 0:
        return check.vector(argument, value, check.NON_NEGATIVE, length=arms, noun="arm")
    return (check.number(argument, value, check.NON_NEGATIVE, suffix=", or one per arm"),) * arms


def _one_if_equal(values: tuple[float, ...] | None) -> float | tuple[float, ...] | None:
    return values[0] if values and values.count(values[0]) == len(values) else values


def _checked_table(table: object) -> _StoredTable:
    argument = "Bandit.table"
    allowed = "per arm a sequence of (value, probability) pairs"
    try:
        rows = [[tuple(pair) for pair in arm] for arm in table]  # type: ignore[attr-defined]
    except TypeError:
        raise ConfigTypeError(argument, table, allowed) from None
    if not rows:
        raise ConfigError(argument, table, "at least one arm")
    for index, row in enumerate(rows):
        if not row or any(len(pair) != 2 for pair in row):
            raise ConfigError(f"{argument}[{index}]", row, "(value, probability) pairs")

    # All arms are checked at once: there may be a million.
    pairs = [pair for row in rows for pair in row]
    values = check.array(f"{argument} values", [value for value, _ in pairs])
    chances = check.array(f"{argument} probabilities", [p for _, p in pairs], check.UNIT)
    starts = np.cumsum([0] + [len(row) for row in rows[:-1]])
    sums: npt.NDArray[np.float64] = np.add.reduceat(chances, starts)
    wrong = np.flatnonzero(np.abs(sums - 1.0) > limits.SUM)
    if wrong.size:
        arm = int(wrong[0])
        raise ConfigError(
            f"{argument}[{arm}]",
            rows[arm],
            f"probabilities that sum to 1 (the sum is {sums[arm]:.12g})",
        )
    flat = list(zip(values.tolist(), chances.tolist(), strict=True))
    return tuple(
        tuple(flat[start : start + len(row)])
        for start, row in zip(starts.tolist(), rows, strict=True)
    )


def _table_means(table: _StoredTable) -> tuple[float, ...]:
    return tuple(math.fsum(value * p for value, p in arm) for arm in table)


def _check_given_means(means: object, computed: tuple[float, ...]) -> None:
    given = check.vector("Bandit.means", means, length=len(computed), noun="arm")
    # The same tolerance as for probabilities, relative for large rewards.
    if not np.allclose(given, computed, rtol=limits.SUM, atol=limits.SUM):
        raise ConfigError(
            "Bandit.means", means, f"None, or the means of the table, {list(computed[:6])}"
        )
