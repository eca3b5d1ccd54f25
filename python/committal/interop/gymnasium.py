"""To and from Gymnasium: its tabular environments as MDPs, and MDPs as its environments.

Gymnasium is optional: ``pip install committal[gymnasium]``. Reading an environment needs nothing
but the environment; offering one imports Gymnasium on first use.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from committal.config import TabularMDP
from committal.errors import ConfigError, ConfigTypeError
from committal.support import check

if TYPE_CHECKING:
    import gymnasium

__all__ = ["from_gymnasium", "to_gymnasium"]

#: P[s][a] of the tabular environments: (probability, next state, reward, whether it is over).
_Table: TypeAlias = dict[int, dict[int, list[tuple[float, int, float, bool]]]]

_DEFAULT_LIMIT = 100


def from_gymnasium(
    env: Any, gamma: check.Number = 0.99, limit: check.Integer | None = None
) -> TabularMDP:
    """P[s, a, s'] and R[s, a, s'] from the table ``env.unwrapped.P``.

    FrozenLake, CliffWalking and Taxi have such a table.

    Parameters
    ----------
    env : gymnasium.Env
        An environment, wrapped or not.
    gamma : float, optional
        The discount, in [0, 1).
    limit : int, optional
        The longest sampled episode; that of the environment by default, or 100.

    Returns
    -------
    TabularMDP
        With the states and actions of the environment. A state in which episodes end is
        terminal. Where they end on the way into a state that can also be passed through, they
        end in one more state, ``"end"``, instead.

    Raises
    ------
    ConfigError
        If the environment has no table.

    Examples
    --------
    >>> import gymnasium
    >>> import committal as cm
    >>> lake = cm.from_gymnasium(gymnasium.make("FrozenLake-v1"), gamma=0.99)
    >>> lake.n_states, lake.n_actions, lake.terminal
    (16, 4, (5, 7, 11, 12, 15))
    """
    inner = getattr(env, "unwrapped", env)
    table = getattr(inner, "P", None)
    if not isinstance(table, dict) or not table:
        raise ConfigTypeError("env", env, "an environment with a table of transitions, unwrapped.P")
    S = len(table)
    _check_table(table)
    rho = check.array(
        "env.unwrapped.initial_state_distrib",
        getattr(inner, "initial_state_distrib", np.eye(S)[0]),
        check.UNIT,
        length=S,
        noun="state",
    )
    if limit is None:
        limit = getattr(getattr(env, "spec", None), "max_episode_steps", None) or _DEFAULT_LIMIT

    ends = {int(after) for _, after, over in _transitions(table) if over}
    passed = _passed_through(table, rho)
    ambiguous = ends & passed
    terminal = ends - ambiguous
    if ambiguous:
        terminal.add(S)
    records = [
        (s, a, S if over and int(after) in ambiguous else int(after), float(p), float(r))
        for s, row in table.items()
        for a, outcomes in row.items()
        for p, after, r, over in outcomes
    ]
    return TabularMDP(
        records,
        gamma=gamma,
        start=np.append(rho, 0.0) if ambiguous else rho,
        terminal=sorted(terminal),
        limit=limit,
        states=(*map(str, range(S)), "end") if ambiguous else None,
    )


def _check_table(table: _Table) -> None:
    """Refuse a table that does not have outcomes for all states and actions."""
    S, rows = len(table), list(table.values())
    try:
        A = len(rows[0])
        whole = sorted(table) == list(range(S)) and all(
            sorted(row) == list(range(A)) for row in rows
        )
        for row in rows:
            for outcomes in row.values():
                for p, after, r, _ in outcomes:
                    whole = whole and 0 <= int(after) < S and math.isfinite(float(p) + float(r))
    except (TypeError, ValueError, AttributeError, OverflowError):
        whole = False
    if not whole:
        raise ConfigError(
            "env.unwrapped.P",
            table,
            "P[s][a] for all states 0, ... and actions 0, ...: (probability, next state, reward, "
            "whether it is over) of each outcome",
        )


def _transitions(table: _Table) -> list[tuple[int, int, bool]]:
    """List (s, s', whether it is over) of everything possible."""
    return [
        (int(s), int(after), bool(over))
        for s, row in table.items()
        for outcomes in row.values()
        for p, after, _, over in outcomes
        if p > 0.0
    ]


def _passed_through(table: _Table, rho: np.ndarray[Any, np.dtype[np.float64]]) -> set[int]:
    """Find the states from which an episode goes on."""
    onwards: dict[int, set[int]] = {}
    for s, after, over in _transitions(table):
        if not over:
            onwards.setdefault(s, set()).add(after)
    found = set(np.flatnonzero(rho > 0.0).tolist())
    frontier = list(found)
    while frontier:
        new = onwards.get(frontier.pop(), set()) - found
        found |= new
        frontier.extend(new)
    return found


def to_gymnasium(mdp: TabularMDP) -> gymnasium.Env[int, int]:
    """s' ~ P[s, a, :] one step at a time: an MDP as a Gymnasium environment.

    Parameters
    ----------
    mdp : TabularMDP

    Returns
    -------
    gymnasium.Env
        Observations are the indices of states, actions those of actions. Episodes terminate in
        terminal states and are truncated at the limit. Like Gymnasium's own tabular
        environments it has its transitions in ``P``.

    Examples
    --------
    >>> import committal as cm
    >>> env = cm.to_gymnasium(cm.gridworld("SA", goals={"A": 1}, gamma=0.5))
    >>> env.reset(seed=0)
    (0, {})
    >>> env.step(1)
    (1, 0.5, True, False, {})
    """
    check.instance("mdp", mdp, TabularMDP, "a TabularMDP, such as a gridworld")
    try:
        from committal.interop.environment import MdpEnv
    except ImportError as error:
        raise ImportError(
            "to_gymnasium needs Gymnasium: pip install committal[gymnasium]"
        ) from error
    return MdpEnv(mdp)
