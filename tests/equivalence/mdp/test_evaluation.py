"""Policy evaluation against dense linear algebra, QuantEcon, value iteration and closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import committal as cm
from committal import reference

GAMMAS = (0.0, 0.5, 0.9, 0.99, 0.999, 0.9999)


def some_mdp(make_mdp: Any, number: int) -> tuple[cm.TabularMDP, np.random.Generator]:
    """MDP `number` of a family: 2 to 30 states, 1 to 6 actions, 0 to a few terminal states."""
    rng = np.random.default_rng(number)
    states = int(rng.integers(2, 31))
    mdp = make_mdp(
        rng,
        states=states,
        actions=int(rng.integers(1, 7)),
        terminals=int(rng.integers(0, min(4, states))),
        gamma=GAMMAS[number % len(GAMMAS)],
        starts=int(rng.integers(1, 5)),
        limit=int(rng.integers(1, 40)),
        loops=bool(rng.integers(2)),
    )
    return mdp, rng


def some_policies(mdp: cm.TabularMDP, rng: np.random.Generator) -> np.ndarray:
    """Uniform, random, nearly deterministic and deterministic ones."""
    S, A = mdp.n_states, mdp.n_actions
    theta = rng.normal(size=(6, S, A)) * np.array([0, 1, 3, 30, 300, 1])[:, None, None]
    pi = np.exp(theta - theta.max(-1, keepdims=True))
    pi /= pi.sum(-1, keepdims=True)
    pi[-1] = np.eye(A)[rng.integers(A, size=S)]
    return np.asarray(pi)


def assert_close(got: np.ndarray, want: np.ndarray, name: str) -> None:
    scale = max(1.0, float(np.abs(want).max(initial=0.0)))
    np.testing.assert_allclose(got, want, rtol=0.0, atol=1e-10 * scale, err_msg=name)


@pytest.mark.parametrize("hundred", range(2))
def test_two_hundred_random_mdps_against_a_dense_solve(make_mdp: Any, hundred: int) -> None:
    absorbing = unreachable = 0
    for number in range(100 * hundred, 100 * (hundred + 1)):
        mdp, rng = some_mdp(make_mdp, number)
        policies = some_policies(mdp, rng)
        found = cm.evaluate(mdp, policies)
        for i, pi in enumerate(policies):
            V, Q = reference.solve(mdp, pi)
            assert_close(found.V[i], V, "V")
            assert_close(found.Q[i], Q, "Q")
            assert_close(found.advantage[i], Q - V[:, None], "advantage")
            assert_close(found.value[i], mdp.start_distribution @ V, "value")
            assert_close(found.state_distribution[i], reference.state_distribution(mdp, pi), "d")
            assert_close(found.goal_probability[i], reference.goal_probability(mdp, pi), "goals")
        absorbing += bool(np.any(mdp.P[range(mdp.n_states), :, range(mdp.n_states)] == 1.0))
        unreachable += not mdp.reachable.all()
    assert min(absorbing, unreachable) > 20  # the family has what it promises


def test_many_policies_at_once_are_each_alone(make_mdp: Any) -> None:
    mdp, rng = some_mdp(make_mdp, 3)
    policies = np.stack([some_policies(mdp, rng) for _ in range(5)])
    together = cm.evaluate(mdp, policies, threads=2)
    assert together.V.shape == (5, 6, mdp.n_states)
    assert together.goal_probability.shape == (5, 6, len(mdp.terminal))
    for index in np.ndindex(5, 6):
        alone = cm.evaluate(mdp, policies[index], threads=1)
        for name in ("V", "Q", "advantage", "value", "state_distribution", "goal_probability"):
            np.testing.assert_array_equal(getattr(together, name)[index], getattr(alone, name))


def test_the_result_does_not_depend_on_how_the_mdp_was_written(make_mdp: Any) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    mdp, rng = some_mdp(make_mdp, 5)
    records = mdp._arguments()["P"]
    P = np.zeros((mdp.n_states, mdp.n_actions, mdp.n_states))
    R = np.zeros_like(P)
    for s, a, after, p, r in records:
        P[s, a, after], R[s, a, after] = p, r
    rest = (mdp.gamma, mdp.start_distribution, mdp.terminal, mdp.limit)
    flat = sparse.csr_matrix(P.reshape(-1, mdp.n_states))
    rewards = sparse.csr_matrix(R.reshape(-1, mdp.n_states))
    shuffled = [records[i] for i in rng.permutation(len(records))]
    for other in (
        cm.TabularMDP(P, R, *rest),
        cm.TabularMDP(flat, R, *rest),
        cm.TabularMDP(flat.tocoo(), rewards, *rest),
        cm.TabularMDP(shuffled, None, *rest),
    ):
        assert other == mdp
        assert other.hash == mdp.hash


@pytest.mark.parametrize("number", range(12))
def test_quantecon_agrees_on_deterministic_policies(make_mdp: Any, number: int) -> None:
    markov = pytest.importorskip("quantecon.markov")
    mdp, rng = some_mdp(make_mdp, number)
    P, ended = mdp.P, list(mdp.terminal)
    # There terminal states are absorbing ones that pay nothing.
    P[ended] = np.eye(mdp.n_states)[ended][:, None]
    peer = markov.DiscreteDP(mdp.R, P, mdp.gamma)
    for _ in range(5):
        choice = rng.integers(mdp.n_actions, size=mdp.n_states)
        policy = np.eye(mdp.n_actions)[choice]
        assert_close(cm.evaluate(mdp, policy).V, peer.evaluate_policy(choice), "V")
    best = peer.solve(method="policy_iteration")
    assert_close(cm.optimal(mdp).V, best.v, "V*")


@pytest.mark.parametrize("number", range(20))
def test_the_optimum_is_where_value_iteration_ends(make_mdp: Any, number: int) -> None:
    mdp, _ = some_mdp(make_mdp, number)
    if mdp.gamma > 0.99:
        mdp = mdp.replace(gamma=0.99)
    V = np.zeros(mdp.n_states)
    for _ in range(4000):
        V = (mdp.R + mdp.gamma * mdp.P @ V).max(axis=-1)
    found = cm.optimal(mdp)
    assert_close(found.V, V, "V*")
    acting = ~mdp.is_terminal
    assert np.all(found.policy[acting].max(axis=-1) == 1.0)
    assert_close(found.V[acting], found.Q[acting].max(axis=-1), "Bellman")


@pytest.mark.parametrize("tolerance", [1e-3, 1e-8])
def test_sweeps_stop_within_their_tolerance(make_mdp: Any, tolerance: float) -> None:
    for number in range(24):
        mdp, rng = some_mdp(make_mdp, number)
        mdp = mdp.replace(gamma=min(mdp.gamma, 0.99))
        policies = some_policies(mdp, rng)
        exact = cm.evaluate(mdp, policies)
        swept = cm.evaluate(mdp, policies, method="iterative", tolerance=tolerance)
        bound = tolerance * mdp.gamma / (1.0 - mdp.gamma) + 1e-10
        assert np.abs(swept.V - exact.V).max() <= bound
        assert exact.sweeps is None
        assert swept.sweeps is not None
        assert swept.sweeps.shape == policies.shape[:1]
        assert np.all(swept.sweeps >= 1)


def test_shortest_paths_of_four_rooms_are_its_best_values() -> None:
    rooms = cm.maps.four_rooms()
    paths = rooms.shortest_paths()
    assert {goal: round(path.value, 4) for goal, path in paths.items()} == {
        "A": 0.5426,
        "B": 0.2713,
        "C": 0.8687,
    }
    assert {goal: path.moves for goal, path in paths.items()} == {"A": 10, "B": 10, "C": 14}
    assert float(cm.optimal(rooms).value) == pytest.approx(paths["C"].value, rel=1e-13)
    # Without the better ones, each goal is the best.
    for others, goal in (("C", "A"), ("AC", "B")):
        rewards = {letter: 0.0 if letter in others else r for letter, r in rooms.rewards}
        alone = rooms.replace(goals=rewards)
        assert float(cm.optimal(alone).value) == pytest.approx(paths[goal].value, rel=1e-13)


@pytest.mark.parametrize("slip", [0.0, 0.2])
def test_a_hundred_by_hundred_grid_is_practical(slip: float) -> None:
    """By the equations themselves: a dense solve would need 800 MB."""
    size = 100
    rows = ["." * size for _ in range(size)]
    rows[0] = "S" + rows[0][1:]
    rows[-1] = rows[-1][:-1] + "A"
    grid = cm.gridworld(rows, goals={"A": 1.0}, slip=slip, step_reward=-0.001)
    rng = np.random.default_rng(0)
    pi = rng.dirichlet(np.ones(4), size=grid.n_states)
    found = cm.evaluate(grid, pi)
    pairs = np.repeat(np.arange(4 * grid.n_states), np.diff(grid.row_offsets))
    later = grid.reward + grid.gamma * found.V[grid.next_state]
    Q = np.bincount(pairs, grid.probability * later, minlength=4 * grid.n_states).reshape(-1, 4)
    np.testing.assert_allclose(found.Q, Q, rtol=0, atol=1e-12)
    acting = ~grid.is_terminal
    np.testing.assert_allclose(found.V[acting], (pi * Q).sum(-1)[acting], rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (np.full((2, 4), 0.25), r"shape is \(2, 4\)"),
        (np.full((53, 4), 0.3), r"policy\[0\] .*sum is 1.2"),
        (np.full((3, 53, 4), np.nan), r"policy\[0, 0\]"),
        ("best", "policy = 'best'"),
        ([["a"]], "policy"),
    ],
)
def test_policies_are_refused_by_state(policy: Any, message: str) -> None:
    with pytest.raises(cm.ConfigError, match=message):
        cm.evaluate(cm.maps.four_rooms(), policy)


def test_other_arguments_are_refused_by_name() -> None:
    rooms = cm.maps.four_rooms()
    with pytest.raises(cm.ConfigError, match=r"mdp = Bandit.*TabularMDP"):
        cm.evaluate(cm.Bandit([1, 0]))  # type: ignore[arg-type]
    with pytest.raises(cm.ConfigError, match=r"mdp = 3"):
        cm.optimal(3)  # type: ignore[arg-type]
    with pytest.raises(cm.ConfigError, match=r"method = 'direkt' .*did you mean 'direct'"):
        cm.evaluate(rooms, method="direkt")
    with pytest.raises(cm.ConfigError, match=r"tolerance = 0.* > 0"):
        cm.evaluate(rooms, method="iterative", tolerance=0)
    with pytest.raises(cm.ConfigError, match="threads = 0"):
        cm.evaluate(rooms, threads=0)


def test_policy_iteration_ends_where_rounding_goes_round_in_circles() -> None:
    # On this map the greedy policies repeat with period 6, their values apart by 1e-16.
    rows = [["."] * 38 for _ in range(38)]
    rows[0][0], rows[-1][-1], rows[3][5] = "S", "A", "B"
    text = ["".join(row) for row in rows]
    goals = {"A": 1.0, "B": 0.25}
    found = cm.optimal(cm.gridworld(text, goals=goals, gamma=0.97, slip=0.1, limit=12))
    greedy = found.Q.max(axis=-1)[~found.mdp.is_terminal]
    assert_close(found.V[~found.mdp.is_terminal], greedy, "V* = max Q*")
