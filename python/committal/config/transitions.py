"""Transitions of a finite MDP: from dense arrays, sparse matrices or records to one checked form.

The one form is compressed by rows: the outcomes (s', p, r) of each pair (s, a), those of
probability 0 left out, equal ones merged, in the order of s' and then of r. Two ways of writing
one MDP give equal arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from committal.errors import ConfigError, ConfigTypeError
from committal.support import check, limits

__all__ = ["Names", "Transitions", "compress", "read_transitions"]

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]


_FORMS = "an array [S, A, S], a sparse matrix (S*A, S) or records (s, a, s', p, r)"


class Names(NamedTuple):
    """How messages call states and actions: by their names if they have any."""

    states: tuple[str, ...] | None = None
    actions: tuple[str, ...] | None = None

    def pair(self, s: int, a: int) -> str:
        """Write the pair (s, a) as an index: ``[3, 'left']``."""
        state = s if self.states is None else self.states[s]
        action = a if self.actions is None else self.actions[a]
        return f"[{state!r}, {action!r}]"


class Transitions(NamedTuple):
    """The outcomes of all pairs (s, a): those of pair s * A + a are row_offsets[s * A + a] to
    row_offsets[s * A + a + 1]. Terminal states have none.
    """

    states: int
    actions: int
    row_offsets: npt.NDArray[np.int64]
    next_state: npt.NDArray[np.int32]
    probability: Floats
    reward: Floats


class _Entries(NamedTuple):
    """Outcomes in any order, one by one."""

    states: int
    actions: int
    s: Integers
    a: Integers
    next_state: Integers
    probability: Floats
    reward: Floats


def read_transitions(P: Any, R: Any, terminal: object, names: Names) -> tuple[Transitions, Any]:
    """Check what a user gave and bring it to the one form.

    Parameters
    ----------
    P, R
        As for `TabularMDP`.
    terminal
        Indices of the terminal states.
    names
        Given names; their numbers must be those of states and actions.

    Returns
    -------
    Transitions, tuple of int
        The transitions and the terminal states in increasing order.
    """
    ended = _indices("TabularMDP.terminal", terminal)
    if hasattr(P, "tocoo"):
        entries = _from_sparse(P, R)
    else:
        if not hasattr(P, "__array__") and isinstance(P, Iterable) and not isinstance(P, str):
            P = list(P)
        array = numeric("TabularMDP.P", P, _FORMS)
        if array.ndim == 3:
            entries = _from_dense(array, R)
        elif array.ndim == 2 and array.shape[1] == 5:
            entries = _from_records(array, R, ended, names)
        else:
            raise ConfigError("TabularMDP.P", P, f"{_FORMS}; its shape is {array.shape}")
    for count, given, noun in (
        (entries.states, names.states, "state"),
        (entries.actions, names.actions, "action"),
    ):
        if given is not None and len(given) != count:
            raise ConfigError(
                f"TabularMDP.{noun}s", given, f"{count} names, one per {noun} of TabularMDP.P"
            )
    if ended and ended[-1] >= entries.states:
        raise ConfigError("TabularMDP.terminal", ended, f"states in [0, {entries.states - 1}]")
    if len(ended) == entries.states:
        raise ConfigError("TabularMDP.terminal", ended, "at least one state that is not terminal")
    return compress(entries, ended, names), ended


def compress(entries: _Entries, terminal: tuple[int, ...], names: Names) -> Transitions:
    """Check probabilities and rewards row by row, sort, merge and compress."""
    S, A = entries.states, entries.actions
    is_terminal = np.zeros(S, np.bool_)
    is_terminal[list(terminal)] = True
    # Nothing is asked of the rows of terminal states, not even that they make sense.
    kept = ~is_terminal[entries.s]
    row = (entries.s * A + entries.a)[kept]
    after, p, r = entries.next_state[kept], entries.probability[kept], entries.reward[kept]

    def refuse(bad: npt.NDArray[np.bool_], what: str, values: npt.NDArray[Any], text: str) -> None:
        if bad.any():
            first = int(np.argmax(bad))
            pair = names.pair(*divmod(int(row[first]), A))
            raise ConfigError(f"TabularMDP.{what}{pair}", values[first].item(), text)

    refuse(~np.isfinite(p) | (p < 0.0), "P", p, "probabilities in [0, 1]")
    refuse((after < 0) | (after >= S), "P", after, f"next states in [0, {S - 1}]")
    allowed = f"finite rewards of at most {limits.MAGNITUDE:g} in magnitude"
    refuse(~(np.abs(r) <= limits.MAGNITUDE) & (p > 0.0), "R", r, allowed)

    sums = np.bincount(row, weights=p, minlength=S * A)
    wrong = (np.abs(sums - 1.0) > limits.SUM) & ~np.repeat(is_terminal, A)
    if wrong.any():
        first = int(np.argmax(wrong))
        pair = names.pair(*divmod(first, A))
        raise ConfigError(
            f"TabularMDP.P{pair}",
            p[row == first],
            f"probabilities that sum to 1 (the sum is {sums[first]:.12g})",
        )

    possible = p > 0.0
    row, after, p, r = row[possible], after[possible], p[possible], r[possible] + 0.0
    order = np.lexsort((r, after, row))
    row, after, p, r = row[order], after[order], p[order], r[order]
    new = np.ones(len(row), np.bool_)
    new[1:] = (np.diff(row) != 0) | (np.diff(after) != 0) | (r[1:] != r[:-1])
    starts = np.flatnonzero(new)
    merged = np.add.reduceat(p, starts) if len(p) else p
    offsets = np.zeros(S * A + 1, np.int64)
    np.cumsum(np.bincount(row[starts], minlength=S * A), out=offsets[1:])
    made = Transitions(S, A, offsets, after[starts].astype(np.int32), merged, r[starts])
    for values in (made.row_offsets, made.next_state, made.probability, made.reward):
        values.flags.writeable = False
    return made


def entries_of(
    states: int, actions: int, outcomes: Sequence[tuple[int, int, int, float, float]]
) -> _Entries:
    """Make entries from (s, a, s', p, r), which are known to be in range."""
    table = np.array(outcomes, np.float64).reshape(-1, 5)
    s, a, after = table[:, :3].T.astype(np.int64)
    return _Entries(states, actions, s, a, after, table[:, 3].copy(), table[:, 4].copy())


def numeric(argument: str, value: Any, allowed: str) -> npt.NDArray[Any]:
    """Return an array of real numbers; booleans, text and ragged lists are refused."""
    check.refuse_masked(argument, value, allowed)
    array = value if isinstance(value, np.ndarray) else _nested_array(argument, value, allowed)
    if array.dtype.kind not in "iuf":
        raise ConfigTypeError(argument, value, allowed)
    return array.astype(np.float64, copy=False)


def _nested_array(argument: str, value: Any, allowed: str) -> npt.NDArray[Any]:
    if isinstance(value, (str, bytes)) or not (
        hasattr(value, "__array__") or isinstance(value, Sequence)
    ):
        raise ConfigTypeError(argument, value, allowed)
    try:
        if not hasattr(value, "__array__") and not _all_real(value):
            raise ConfigTypeError(argument, value, allowed)
        return np.asarray(value)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        if isinstance(error, ConfigTypeError):
            raise
        # Rows of different lengths, numbers beyond a float, lists without a bottom.
        raise ConfigError(argument, value, allowed) from None


def _all_real(value: Any) -> bool:
    """Say whether the leaves of nested sequences are numbers; numpy would convert booleans."""
    kinds = set(map(type, value))
    for kind in kinds:
        if check.is_real_type(kind):
            continue
        if not (issubclass(kind, (list, tuple, np.ndarray)) or kind is np.ndarray):
            return False
    nested = [item for item in value if isinstance(item, (list, tuple))]
    arrays = [item for item in value if isinstance(item, np.ndarray)]
    return all(item.dtype.kind in "iuf" for item in arrays) and all(map(_all_real, nested))


def _indices(argument: str, value: object) -> tuple[int, ...]:
    allowed = "different indices of states"
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise ConfigTypeError(argument, value, allowed)
    given = list(value)
    found = sorted({check.integer(argument, state, 0, limits.STATES - 1) for state in given})
    if len(found) < len(given):
        raise ConfigError(argument, given, allowed)
    return tuple(found)


def _from_dense(P: Floats, R: Any) -> _Entries:
    S, A, after = P.shape
    if after != S or S == 0 or A == 0:
        raise ConfigError("TabularMDP.P", P, f"an array [S, A, S]; its shape is {P.shape}")
    r = _rewards(R, S, A)
    # NaN is not 0: what is wrong is kept, to be found.
    s, a, n = np.nonzero(P)
    reward = r[s, a] if r.ndim == 2 else r[s, a, n]
    return _Entries(S, A, s, a, n, P[s, a, n], reward)


def _from_sparse(P: Any, R: Any) -> _Entries:
    if len(P.shape) != 2 or P.shape[1] == 0 or P.shape[0] % P.shape[1] or P.shape[0] == 0:
        raise ConfigError("TabularMDP.P", P, f"a sparse matrix (S*A, S); its shape is {P.shape}")
    S = int(P.shape[1])
    A = int(P.shape[0]) // S
    matrix = P.tocoo()
    if matrix.dtype.kind not in "iuf":
        raise ConfigTypeError("TabularMDP.P", P, "a sparse matrix of numbers")
    row, n = matrix.row.astype(np.int64), matrix.col.astype(np.int64)
    s, a = np.divmod(row, A)
    if hasattr(R, "tocsr"):
        if R.shape != P.shape:
            raise ConfigError("TabularMDP.R", R, f"the shape of P, {P.shape}, or {(S, A)}")
        reward = np.asarray(R.tocsr()[row, n], np.float64).ravel()
    else:
        r = _rewards(R, S, A)
        reward = r[s, a] if r.ndim == 2 else r[s, a, n]
    return _Entries(S, A, s, a, n, matrix.data.astype(np.float64), reward)


def _from_records(table: Floats, R: object, terminal: tuple[int, ...], names: Names) -> _Entries:
    if R is not None:
        raise ConfigError("TabularMDP.R", R, "None, for the records of P contain the rewards")
    if len(table) == 0:
        raise ConfigError("TabularMDP.P", (), "at least one record (s, a, s', p, r)")
    numbers = table[:, :3]
    whole = (numbers == np.rint(numbers)) & (numbers >= 0) & (numbers < limits.STATES)
    if not whole.all():
        first = int(np.argmin(whole.all(axis=1)))
        raise ConfigError(
            f"TabularMDP.P[{first}]", table[first], "(s, a, s', p, r) with indices s, a and s'"
        )
    s, a, n = numbers.T.astype(np.int64)
    # Every state that is not terminal has outcomes, so the largest number is known.
    S = max(int(s.max()), int(n.max()), *terminal, -1) + 1
    A = int(a.max()) + 1
    if names.states is not None:
        S = max(S, len(names.states))
    if names.actions is not None:
        A = max(A, len(names.actions))
    _refuse_missing_pair(s, a, S, A, terminal, names)
    return _Entries(S, A, s, a, n, table[:, 3].copy(), table[:, 4].copy())


def _refuse_missing_pair(
    s: Integers, a: Integers, S: int, A: int, terminal: tuple[int, ...], names: Names
) -> None:
    """Refuse a pair without records, before a mistyped index asks for memory for all pairs."""
    if (S - len(terminal)) * A <= len(s):
        return
    seen = set(zip(s.tolist(), a.tolist(), strict=True))
    ended = set(terminal)
    missing = next(
        (i, j) for i in range(S) if i not in ended for j in range(A) if (i, j) not in seen
    )
    unnamed = Names() if names.states is not None and len(names.states) < S else names
    raise ConfigError(
        f"TabularMDP.P{unnamed.pair(*missing)}",
        [],
        f"probabilities that sum to 1: all of {S} states that are not terminal, and {A} actions "
        "in each, need records",
    )


def _rewards(R: Any, S: int, A: int) -> Floats:
    allowed = f"rewards of shape {(S, A)} or {(S, A, S)}"
    if R is None:
        raise ConfigError("TabularMDP.R", R, allowed)
    r = numeric("TabularMDP.R", R, allowed)
    if r.shape not in ((S, A), (S, A, S)):
        raise ConfigError("TabularMDP.R", R, f"{allowed}; the shape is {r.shape}")
    return r
