"""Random MDPs for the tests of this directory."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import pytest

import committal as cm


class MakeMdp(Protocol):
    def __call__(self, rng: np.random.Generator, **options: Any) -> cm.TabularMDP: ...


def random_mdp(
    rng: np.random.Generator,
    states: int = 6,
    actions: int = 3,
    terminals: int = 2,
    gamma: float = 0.9,
    limit: int = 15,
    starts: int = 3,
    loops: bool = True,
) -> cm.TabularMDP:
    """A random MDP: sparse stochastic rows, rewards that depend on the next state, self-loops.

    Terminal states are anywhere; the last acting state is left by everybody and entered by nobody.
    """
    order = rng.permutation(states)
    terminal, acting = order[:terminals], order[terminals:]
    P = rng.dirichlet(np.full(states, 0.4), size=(states, actions))
    P[P < 0.1] = 0.0
    P[:, 0] = np.eye(states)[rng.integers(states, size=states)]  # one action is deterministic
    unreachable = acting[-1] if len(acting) > 1 else None
    if unreachable is not None:
        P[:, :, unreachable] = 0.0
    empty = P.sum(-1) == 0.0
    P[empty] = np.eye(states)[acting[0]]
    if loops:
        s = acting[len(acting) // 2]
        P[s, -1] = np.eye(states)[s]  # an action that never leaves
    P /= P.sum(-1, keepdims=True)
    rho = np.zeros(states)
    first = acting[: max(1, min(starts, len(acting) - 1))]
    rho[first] = rng.dirichlet(np.ones(len(first)))
    R = rng.normal(size=(states, actions, states))
    return cm.TabularMDP(P, R, gamma, rho, terminal.tolist(), limit)


@pytest.fixture
def make_mdp() -> MakeMdp:
    return random_mdp
