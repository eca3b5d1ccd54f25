"""To and from Gymnasium."""

from __future__ import annotations

import builtins
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import committal as cm
from committal.errors import ConfigError, ConfigTypeError

gymnasium = pytest.importorskip("gymnasium")
env_checker = pytest.importorskip("gymnasium.utils.env_checker")

GRID = cm.gridworld("S..A\n.#.B\nS...", goals={"A": 1.0, "B": -0.5}, slip=0.2, limit=20)


def test_frozen_lake() -> None:
    lake = cm.from_gymnasium(gymnasium.make("FrozenLake-v1", map_name="4x4", is_slippery=True))
    assert (lake.n_states, lake.n_actions, lake.start, lake.limit) == (16, 4, 0, 100)
    assert lake.terminal == (5, 7, 11, 12, 15)
    # A value known from many a course.
    assert float(cm.optimal(lake).value) == pytest.approx(0.5420, abs=1e-4)


def test_cliff_walking() -> None:
    cliff = cm.from_gymnasium(gymnasium.make("CliffWalking-v1"), gamma=0.5, limit=70)
    assert (cliff.n_states, cliff.start, cliff.terminal, cliff.limit) == (48, 36, (47,), 70)
    best = cm.optimal(cliff)
    assert float(best.value) == pytest.approx(-2.0 * (1.0 - 0.5**13))  # 13 steps, -1 each
    assert best.state_distribution[range(24, 36)].min() > 0.0  # along the edge


def test_taxi() -> None:
    name = max(key for key in gymnasium.registry if key.startswith("Taxi-"))
    taxi = cm.from_gymnasium(gymnasium.make(name))
    assert (taxi.n_states, taxi.n_actions, taxi.limit) == (500, 6, 200)
    assert len(taxi.terminal) == 4
    assert not taxi.reachable.all()
    assert 5.0 < float(cm.optimal(taxi).value) < 20.0


@pytest.mark.parametrize("mdp", [GRID, cm.maps.four_rooms(), cm.gridworld("S.", goals={})])
def test_our_environments_pass_the_check(mdp: cm.TabularMDP) -> None:
    env: Any = cm.to_gymnasium(mdp)
    env_checker.check_env(env, skip_render_check=True)
    assert (env.observation_space.n, env.action_space.n) == (mdp.n_states, mdp.n_actions)


def test_there_and_back() -> None:
    back = cm.from_gymnasium(cm.to_gymnasium(GRID), gamma=GRID.gamma, limit=GRID.limit)
    for name in ("row_offsets", "next_state", "probability", "reward"):
        np.testing.assert_array_equal(getattr(back, name), getattr(GRID, name))
    assert (back.start, back.terminal) == (GRID.start, GRID.terminal)


def test_an_environment_plays_the_mdp() -> None:
    """The mean discounted return of the uniform policy is its value within the limit."""
    env: Any = cm.to_gymnasium(GRID)
    rng = np.random.default_rng(0)
    returns, lengths = [], []
    for episode in range(1500):
        state, _ = env.reset(seed=episode)
        assert GRID.start_distribution[state] > 0.0
        total, over, steps = 0.0, False, 0
        while not over:
            state, r, terminated, truncated, _ = env.step(int(rng.integers(4)))
            total += GRID.gamma**steps * r
            steps += 1
            over = terminated or truncated
        assert terminated == (state in GRID.terminal)
        assert terminated or steps == GRID.limit
        returns.append(total)
        lengths.append(steps)
    from committal.reference import value_within

    want = value_within(GRID, np.full((GRID.n_states, 4), 0.25))
    assert abs(np.mean(returns) - want) < 5.0 * np.std(returns) / np.sqrt(len(returns))
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    env.reset()
    with pytest.raises(gymnasium.error.InvalidAction, match="7"):
        env.step(7)


class Table:
    """An environment is whatever has a table."""

    def __init__(self, P: Any) -> None:
        self.P = P


def test_an_end_on_the_way_into_a_state_that_goes_on() -> None:
    # From 0 to 1, and from 1 back to 0 or, half of the time, over in 0.
    table = {0: {0: [(1.0, 1, 0.0, False)]}, 1: {0: [(0.5, 0, 2.0, True), (0.5, 0, 2.0, False)]}}
    mdp = cm.from_gymnasium(Table(table), gamma=0.5)
    assert (mdp.n_states, mdp.terminal, mdp.goals) == (3, (2,), ("end",))
    # V0 = V1 / 2, V1 = 2 + V0 / 4
    assert float(cm.evaluate(mdp).value) == pytest.approx(8.0 / 7.0)


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(ConfigTypeError, match=r"^env = .*unwrapped.P"):
        cm.from_gymnasium(gymnasium.make("CartPole-v1"))
    with pytest.raises(ConfigTypeError, match=r"^env = 3"):
        cm.from_gymnasium(3)
    with pytest.raises(ConfigError, match=r"^env.unwrapped.P"):
        cm.from_gymnasium(Table({0: {0: []}, 2: {0: []}}))
    with pytest.raises(ConfigError, match=r"P\[0, 0\].*sum is 0.5"):
        cm.from_gymnasium(Table({0: {0: [(0.5, 0, 0.0, False)]}}))
    with pytest.raises(ConfigTypeError, match=r"^mdp = 3"):
        cm.to_gymnasium(3)  # type: ignore[arg-type]


def test_without_gymnasium_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def missing(name: str, *rest: Any, **options: Any) -> Any:
        if name.startswith("gymnasium"):
            raise ImportError(name)
        return imported(name, *rest, **options)

    monkeypatch.delitem(sys.modules, "committal.interop.environment", raising=False)
    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ImportError, match=r"pip install committal\[gymnasium\]"):
        cm.to_gymnasium(GRID)


def test_the_module_does_not_hide_the_package() -> None:
    program = (
        "import committal.interop.gymnasium as ours, committal.interop.environment as env\n"
        "import gymnasium\n"
        "assert gymnasium is not ours and env.gymnasium is gymnasium and gymnasium.Env\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
