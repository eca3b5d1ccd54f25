"""Finite Markov decision processes: many states, the same actions in each, episodes that end."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from committal.config.base import config
from committal.config.problem import Problem
from committal.config.quantities import MDP_QUANTITIES
from committal.config.transitions import (
    Floats,
    Names,
    Transitions,
    numeric,
    read_transitions,
)
from committal.errors import ConfigError, ConfigTypeError
from committal.support import check, limits

__all__ = ["TabularMDP"]

#: One outcome of a pair: (s, a, s', p, r).
Record: TypeAlias = Sequence[check.Number]

#: gamma < 1: the values are those of the infinite horizon.
DISCOUNT = check.Interval(0.0, 1.0, open_high=True)

_MOST_SWEEPS = 20_000


@config
class TabularMDP(Problem):
    """J(pi) = E[sum_i gamma^i r_i]: from s, action a leads to s' with probability P[s, a, s'].

    Parameters
    ----------
    P
        The transitions: an array [S, A, S]; a sparse matrix (S*A, S) of SciPy, whose row s*A + a
        belongs to the pair (s, a); or records (s, a, s', p, r). The probabilities of every pair
        sum to 1 within 1e-9 (they are used as they are, not renormalised).
    R
        The rewards: an array [S, A], or [S, A, S] if they depend on the next state; None with
        records, which contain them.
    gamma
        The discount, in [0, 1).
    start
        The first state of every episode, or its distribution, one probability per state.
    terminal
        Indices of the states in which episodes end. Nobody acts there: their rows of `P` and `R`
        are not read.
    limit
        Sampled episodes are cut after this many steps. Values are those of the infinite horizon.
    states, actions
        Names; by default ``"0"``, ``"1"``, ...

    Raises
    ------
    ConfigError
        Naming the state and the action: ``TabularMDP.P[3, 'left']``.

    Notes
    -----
    The transitions are kept by rows: the outcomes of the pair (s, a) are the entries
    row_offsets[s*A + a] to row_offsets[s*A + a + 1] of `next_state`, `probability` and `reward`,
    in the order of the next state. Outcomes of probability 0 are left out and equal ones are
    merged, so that the same process, however it was written, is the same object with the same
    hash. The arrays are read-only.

    Examples
    --------
    Two rooms and an exit. Staying pays nothing, leaving the second room pays 1:

    >>> mdp = TabularMDP(
    ...     P=[(0, 0, 0, 1.0, 0.0), (0, 1, 1, 1.0, 0.0), (1, 0, 1, 1.0, 0.0), (1, 1, 2, 1.0, 1.0)],
    ...     gamma=0.9, start=0, terminal=[2], actions=["stay", "go"],
    ... )
    >>> mdp.n_states, mdp.n_actions, mdp.goals
    (3, 2, ('2',))
    >>> mdp.P[1, 1]
    array([0., 0., 1.])
    """

    gamma: float
    start: int | tuple[float, ...]
    terminal: tuple[int, ...]
    limit: int
    states: tuple[str, ...]
    actions: tuple[str, ...]
    row_offsets: npt.NDArray[np.int64]
    next_state: npt.NDArray[np.int32]
    probability: Floats
    reward: Floats
    #: What makes two processes equal, in short.
    digest: bytes

    def __init__(
        self,
        P: Iterable[Any] | npt.ArrayLike,
        R: npt.ArrayLike | None = None,
        gamma: check.Number = 0.99,
        start: check.Integer | check.Numbers = 0,
        terminal: Iterable[check.Integer] = (),
        limit: check.Integer = 100,
        *,
        states: Sequence[str] | None = None,
        actions: Sequence[str] | None = None,
    ) -> None:
        names = Names(_checked_names("states", states), _checked_names("actions", actions))
        transitions, ended = read_transitions(P, R, terminal, names)
        self._store(
            transitions,
            gamma=check.number("TabularMDP.gamma", gamma, DISCOUNT),
            start=_checked_start(start, transitions.states, ended),
            terminal=ended,
            limit=check.integer("TabularMDP.limit", limit, 1, limits.EPISODE),
            states=names.states or _numbered(transitions.states),
            actions=names.actions or _numbered(transitions.actions),
        )

    def _store(self, transitions: Transitions, **others: Any) -> None:
        """Set the fields that every MDP has, however it was described."""
        arrays: dict[str, npt.NDArray[Any]] = {
            "row_offsets": transitions.row_offsets,
            "next_state": transitions.next_state,
            "probability": transitions.probability,
            "reward": transitions.reward,
        }
        digest = hashlib.sha256(repr(sorted(others.items())).encode())
        for array in arrays.values():
            digest.update(array.tobytes())
        self._set(**others, **arrays, digest=digest.digest())

    def _arguments(self) -> dict[str, Any]:
        s, a = np.divmod(np.repeat(np.arange(len(self.row_offsets) - 1), self._counts), self.arms)
        columns = (s, a, self.next_state, self.probability, self.reward)
        records = tuple(zip(*(column.tolist() for column in columns), strict=True))
        return {
            "P": records,
            "R": None,
            "gamma": self.gamma,
            "start": self.start,
            "terminal": self.terminal,
            "limit": self.limit,
            "states": None if self.states == _numbered(self.n_states) else self.states,
            "actions": None if self.actions == _numbered(self.n_actions) else self.actions,
        }

    # Arrays do not compare, hash or stay read-only by themselves.

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._build, (self._arguments(),)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    # -- sizes and names -----------------------------------------------------------------------

    @property
    def n_states(self) -> int:
        """The number S of states, terminal ones included.

        Examples
        --------
        >>> TabularMDP([(0, 0, 1, 1, 0)], gamma=0.5, start=0, terminal=[1]).n_states
        2
        """
        return len(self.states)

    @property
    def n_actions(self) -> int:
        """The number A of actions in each state.

        Examples
        --------
        >>> TabularMDP([(0, 0, 1, 1, 0)], gamma=0.5, start=0, terminal=[1]).n_actions
        1
        """
        return len(self.actions)

    @property
    def arms(self) -> int:
        """The number of actions in each state; see `n_actions`."""
        return len(self.actions)

    quantities = MDP_QUANTITIES
    recorded_by_default = ("return", "value")
    by_state = True

    @property
    def goals(self) -> tuple[str, ...]:
        """The names of the terminal states, in the order of their indices.

        Examples
        --------
        >>> TabularMDP([(0, 0, 1, 1, 0)], gamma=0.5, start=0, terminal=[1]).goals
        ('1',)
        """
        return tuple(self.states[s] for s in self.terminal)

    @property
    def _counts(self) -> npt.NDArray[np.int64]:
        return np.diff(self.row_offsets)

    # -- arrays --------------------------------------------------------------------------------

    @property
    def P(self) -> Floats:  # noqa: N802
        """P[s, a, s'] as a dense array; the rows of terminal states are zero.

        Examples
        --------
        >>> TabularMDP([(0, 0, 1, 1, 0)], gamma=0.5, start=0, terminal=[1]).P
        array([[[0., 1.]],
        <BLANKLINE>
               [[0., 0.]]])
        """
        dense = np.zeros((self.n_states * self.n_actions, self.n_states))
        rows = np.repeat(np.arange(len(dense)), self._counts)
        np.add.at(dense, (rows, self.next_state), self.probability)
        return dense.reshape(self.n_states, self.n_actions, self.n_states)

    @property
    def R(self) -> Floats:  # noqa: N802
        """R[s, a] = E[r | s, a]; 0 in terminal states.

        Examples
        --------
        >>> TabularMDP([(0, 0, 1, 1, 3)], gamma=0.5, start=0, terminal=[1]).R
        array([[3.],
               [0.]])
        """
        rows = np.repeat(np.arange(len(self.row_offsets) - 1), self._counts)
        means: Floats = np.bincount(
            rows, weights=self.probability * self.reward, minlength=len(self.row_offsets) - 1
        ).astype(np.float64)
        return means.reshape(self.n_states, self.n_actions)

    @property
    def start_distribution(self) -> Floats:
        """rho[s], the law of the first state.

        Examples
        --------
        >>> TabularMDP([(0, 0, 1, 1, 0)], gamma=0.5, start=0, terminal=[1]).start_distribution
        array([1., 0.])
        """
        if isinstance(self.start, tuple):
            return np.array(self.start)
        rho = np.zeros(self.n_states)
        rho[self.start] = 1.0
        return rho

    @property
    def is_terminal(self) -> npt.NDArray[np.bool_]:
        """Which states are terminal, by state.

        Examples
        --------
        >>> TabularMDP([(0, 0, 1, 1, 0)], gamma=0.5, start=0, terminal=[1]).is_terminal
        array([False,  True])
        """
        mask = np.zeros(self.n_states, np.bool_)
        mask[list(self.terminal)] = True
        return mask

    @property
    def reachable(self) -> npt.NDArray[np.bool_]:
        """Which states some policy can reach from the start, by state.

        States that no policy reaches are allowed: they have values, but no episode visits them.

        Examples
        --------
        >>> records = [(0, 0, 2, 1, 0), (1, 0, 2, 1, 0)]
        >>> TabularMDP(records, gamma=0.5, start=0, terminal=[2]).reachable
        array([ True, False,  True])
        """
        found = self.start_distribution > 0.0
        sources = np.repeat(np.arange(self.n_states).repeat(self.n_actions), self._counts)
        while True:
            grown = found.copy()
            grown[self.next_state[found[sources]]] = True
            if np.array_equal(grown, found):
                return found
            found = grown

    def return_bounds(self, limit: int | None) -> tuple[float, float]:
        """Bound sum_i gamma^i r_i over all paths of at most `limit` steps from the start.

        Examples
        --------
        >>> mdp = TabularMDP([(0, 0, 1, 1, 3)], gamma=0.5, start=0, terminal=[1], limit=10)
        >>> mdp.return_bounds(10)
        (3.0, 3.0)
        """
        if limit is not None:
            limit = check.integer("limit", limit, 0, limits.EPISODE)
        acting = ~self.is_terminal
        # The outcomes of a state, whatever the action, are consecutive entries.
        firsts = self.row_offsets[:: self.n_actions][:-1][acting]
        starts = self.start_distribution > 0.0
        bounds = []
        for sign in (-1.0, 1.0):
            r = sign * self.reward
            best = np.zeros(self.n_states)
            rest = math.inf
            for _ in range(min(_MOST_SWEEPS if limit is None else limit, _MOST_SWEEPS)):
                swept = np.zeros(self.n_states)
                swept[acting] = np.maximum.reduceat(r + self.gamma * best[self.next_state], firsts)
                change = float(np.abs(swept - best).max())
                best = swept
                rest = change * self.gamma / (1.0 - self.gamma)
                if rest <= 1e-12 * float(np.abs(best).max()):
                    break
            exact = limit is not None and limit <= _MOST_SWEEPS
            bounds.append(sign * (float(best[starts].max()) + (0.0 if exact else rest)))
        return bounds[0], bounds[1]


def _numbered(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(count)))


def _checked_names(argument: str, names: object) -> tuple[str, ...] | None:
    if names is None:
        return None
    allowed = "different non-empty strings"
    if isinstance(names, np.ndarray):
        names = names.tolist()
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise ConfigTypeError(f"TabularMDP.{argument}", names, allowed)
    if not all(isinstance(name, str) for name in names):
        raise ConfigTypeError(f"TabularMDP.{argument}", names, allowed)
    stored = tuple(str(name) for name in names)
    if not stored or len(set(stored)) < len(stored) or "" in stored:
        raise ConfigError(f"TabularMDP.{argument}", names, allowed)
    return stored


def _checked_start(start: Any, states: int, terminal: tuple[int, ...]) -> int | tuple[float, ...]:
    argument = "TabularMDP.start"
    if check.ndim(start) == 0 and not isinstance(start, (Sequence, str)):
        state = check.integer(argument, start, 0, states - 1)
        if state in terminal:
            raise ConfigError(argument, start, "a state that is not terminal")
        return state
    numeric(argument, start, "a state, or a distribution over the states")
    rho = check.probabilities(argument, start)
    if len(rho) != states:
        raise ConfigError(argument, start, f"{states} probabilities, one per state")
    ended = [s for s in terminal if rho[s] > 0.0]
    if ended:
        raise ConfigError(
            f"{argument}[{ended[0]}]", rho[ended[0]], "0: no episode starts in a terminal state"
        )
    possible = [s for s, p in enumerate(rho) if p > 0.0]
    # A certain start is the index of its state, however it was given.
    return possible[0] if len(possible) == 1 else rho
