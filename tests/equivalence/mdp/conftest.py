"""Random MDPs, and what every rule is asked, for the tests of this directory."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import pytest

import committal as cm
from committal import _core, reference


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


def runs_of(e: cm.Experiment, runs: int = 20, **options: Any) -> Any:
    return cm.run(e, runs=runs, rng=1, **options)


def agrees_with_the_oracle(e: cm.Experiment) -> None:
    """Whatever is recorded of two runs: numbers to ten digits, counts exactly."""
    data = runs_of(e, runs=2)
    key, times = int(data.attrs["key"], 16), data["time"].values
    for run in range(2):
        want = reference.simulate(e, key=key, run=run)
        for name in data.data_vars:
            got, wanted = data[name].values[run], want[str(name)][times]
            if got.dtype.kind in "iu":
                np.testing.assert_array_equal(got, wanted, err_msg=name)
            else:
                np.testing.assert_allclose(got, wanted, rtol=1e-10, atol=1e-10, err_msg=name)


def has_one_answer(e: cm.Experiment) -> None:
    """The same bits on every instruction set, for any number of threads and any chunks."""
    first = runs_of(e)
    isas = [{"isa": isa} for isa in _core.available()["isas"]]
    for options in (*isas, {"threads": 3}, {"chunk": 7}):
        assert first.equals(runs_of(e, **options)), options


class Asked(Protocol):
    def __call__(self, e: cm.Experiment) -> None: ...


@pytest.fixture
def check_by_oracle() -> Asked:
    return agrees_with_the_oracle


@pytest.fixture
def check_bits() -> Asked:
    return has_one_answer
