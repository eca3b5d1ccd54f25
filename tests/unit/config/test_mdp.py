"""MDPs and gridworlds as configurations: what is accepted, what is refused and by which name."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import committal as cm
from committal.config import Config, Problem
from committal.errors import CombinationError, ConfigError, ConfigTypeError

# Two states to act in, a terminal one between them.
RECORDS: list[tuple[float, ...]] = [
    (0, 0, 0, 0.5, 1.0), (0, 0, 1, 0.5, -1.0), (0, 1, 2, 1.0, 0.0),
    (2, 0, 0, 1.0, 2.0), (2, 1, 1, 0.25, 3.0), (2, 1, 2, 0.75, 0.5),
]  # fmt: skip
P = np.zeros((3, 2, 3))
R = np.zeros((3, 2, 3))
for s, a, after, p, r in RECORDS:
    P[int(s), int(a), int(after)] = p
    R[int(s), int(a), int(after)] = r


def mdp(**changes: Any) -> cm.TabularMDP:
    parts: dict[str, Any] = {"P": RECORDS, "gamma": 0.9, "start": 0, "terminal": [1], "limit": 7}
    return cm.TabularMDP(**(parts | changes))


# -- one process, many ways to write it ------------------------------------------------------------

SAME: list[Callable[[], cm.TabularMDP]] = [
    lambda: mdp(P=iter(RECORDS)),
    lambda: mdp(P=np.array(RECORDS)),
    lambda: mdp(P=[list(record) for record in reversed(RECORDS)]),
    lambda: mdp(P=[*RECORDS, (0, 0, 2, 0.0, 9.0)]),  # impossible
    lambda: mdp(P=[*RECORDS[1:], (0, 0, 0, 0.25, 1.0), (0, 0, 0, 0.25, 1.0)]),  # in two parts
    lambda: mdp(P=[*RECORDS, (1, 0, 0, 0.3, np.nan)]),  # of a terminal state
    lambda: mdp(P=P, R=R),
    lambda: mdp(P=P.tolist(), R=R.tolist()),
    lambda: mdp(P=np.where(np.arange(3)[:, None, None] == 1, np.nan, P), R=R),
    lambda: mdp(P=sparse.csr_array(P.reshape(6, 3)), R=R),
    lambda: mdp(P=sparse.coo_matrix(P.reshape(6, 3)), R=sparse.csr_matrix(R.reshape(6, 3))),
    lambda: mdp(start=[1.0, 0.0, 0.0]),
    lambda: mdp(terminal=np.array([1]), limit=np.int64(7), gamma=np.float32(0.5)).replace(
        gamma=0.9
    ),
    lambda: mdp(states=["0", "1", "2"], actions=["0", "1"]),
]


@pytest.mark.parametrize("made", SAME)
def test_one_process_is_one_object(made: Callable[[], cm.TabularMDP]) -> None:
    other = made()
    assert other == mdp()
    assert hash(other) == hash(mdp())
    assert other.hash == mdp().hash
    assert repr(other) == repr(mdp())


@pytest.mark.parametrize(
    "changes",
    [
        {"gamma": 0.8},
        {"start": 2},
        {"start": [0.5, 0, 0.5]},
        {"limit": 8},
        {"states": ["a", "b", "c"]},
        {"actions": ["a", "b"]},
        {"P": [*RECORDS[:-1], (2, 1, 2, 0.75, 0.6)]},
        {"terminal": (), "P": [*RECORDS, (1, 0, 0, 1, 0), (1, 1, 0, 1, 0)]},
    ],
    ids=str,
)
def test_others_differ(changes: dict[str, Any]) -> None:
    assert mdp(**changes) != mdp()
    assert mdp(**changes).hash != mdp().hash


def test_arrays() -> None:
    one = mdp()
    acting = [0, 2]
    np.testing.assert_array_equal(one.P[acting], P[acting])
    np.testing.assert_array_equal(one.R[acting], (P * R).sum(-1)[acting])
    assert not one.P[1].any()
    assert not one.R[1].any()
    for array in (one.row_offsets, one.next_state, one.probability, one.reward):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    assert (one.n_states, one.n_actions, one.arms, one.goals) == (3, 2, 2, ("1",))
    assert one.reachable.all()
    assert one.start_distribution.tolist() == [1.0, 0.0, 0.0]
    assert isinstance(one, Problem)


def test_rewards_by_state_and_action() -> None:
    by_pair = mdp(P=P, R=np.array([[1.0, 2.0], [np.nan, np.inf], [3.0, 4.0]]))
    assert by_pair.R.tolist() == [[1.0, 2.0], [0.0, 0.0], [3.0, 4.0]]
    assert set(by_pair.reward.tolist()) == {1.0, 2.0, 3.0, 4.0}


def test_outcomes_that_differ_in_reward_only_stay_apart() -> None:
    noisy = mdp(P=[*RECORDS[1:], (0, 0, 0, 0.25, 1.0), (0, 0, 0, 0.25, 0.0)])
    assert noisy.next_state[:3].tolist() == [0, 0, 1]
    assert noisy.reward[:3].tolist() == [0.0, 1.0, -1.0]


def test_copies_and_text() -> None:
    one = mdp(states=["a", "b", "c"], start=[0.5, 0.0, 0.5])
    grid = cm.gridworld("S.\n.A", goals={"A": 1}, slip=0.1)
    for x in (one, grid):
        again = pickle.loads(pickle.dumps(x))
        assert again == x
        assert not again.probability.flags.writeable
        assert copy.deepcopy(x) == x
        assert type(x).from_toml(x.to_toml()) == x
        assert Config.from_json(x.to_json()) == x
        assert eval(repr(x), {"TabularMDP": cm.TabularMDP, "Gridworld": cm.Gridworld}) == x
    assert json.loads(grid.to_json())["text"] == "S.\n.A"
    assert mdp().replace(gamma=0.5).gamma == 0.5
    assert grid.replace(limit=5).limit == 5


# -- refusals --------------------------------------------------------------------------------------

VALUES: list[tuple[str, Callable[[], object]]] = [
    (r"TabularMDP.P\[2, 1\] = \[0.25\] .*sum is 0.25", lambda: mdp(P=RECORDS[:-1])),
    (r"TabularMDP.P\['c', 'go'\] .*sum is 0.25",
     lambda: mdp(P=RECORDS[:-1], states=["a", "b", "c"], actions=["stay", "go"])),
    (r"TabularMDP.P\[2, 1\] = \[\] .*sum is 0", lambda: mdp(P=RECORDS[:4])),
    (r"TabularMDP.P\[3, 0\] = \[\]", lambda: mdp(P=[*RECORDS[1:], (0, 0, 10**9, 0.5, 0)])),
    (r"TabularMDP.P\[0, 0\] = -0.5 .*\[0, 1\]", lambda: mdp(P=[(0, 0, 0, -0.5, 0), *RECORDS])),
    (r"TabularMDP.P\[0, 0\] = nan", lambda: mdp(P=[(0, 0, 0, np.nan, 0), *RECORDS[1:]])),
    (r"TabularMDP.R\[0, 1\] = inf .*finite", lambda: mdp(P=P, R=[[0, np.inf], [0, 0], [0, 0]])),
    (r"TabularMDP.P\[0\] .*indices", lambda: mdp(P=[(0.5, 0, 0, 1, 0), *RECORDS])),
    (r"TabularMDP.P\[6\] .*indices", lambda: mdp(P=[*RECORDS, (0, -1, 0, 1, 0)])),
    (r"TabularMDP.P = .*\[S, A, S\]", lambda: mdp(P=np.ones((2, 3)))),
    (r"TabularMDP.P = .*shape is \(3, 2, 2\)", lambda: mdp(P=P[:, :, :2], R=R)),
    (r"TabularMDP.P = .*\(S\*A, S\)", lambda: mdp(P=sparse.csr_array(np.ones((5, 3))), R=R)),
    (r"TabularMDP.P = .*at least one record|TabularMDP.P = \[\]", lambda: mdp(P=[])),
    (r"TabularMDP.R = .*shape \(3, 2\)", lambda: mdp(P=P, R=np.ones((2, 2)))),
    (r"TabularMDP.R = None", lambda: mdp(P=P)),
    (r"TabularMDP.R = .*None, for", lambda: mdp(R=np.ones((3, 2)))),
    (r"TabularMDP.gamma = 1 .*\[0, 1\)", lambda: mdp(gamma=1)),
    (r"TabularMDP.gamma = nan", lambda: mdp(gamma=np.nan)),
    (r"TabularMDP.start = 1 .*not terminal", lambda: mdp(start=1)),
    (r"TabularMDP.start = 3", lambda: mdp(start=3)),
    (r"TabularMDP.start = .*sum is 0.5", lambda: mdp(start=[0.5, 0, 0])),
    (r"TabularMDP.start = .*3 probabilities", lambda: mdp(start=[0.5, 0.5])),
    (r"TabularMDP.start\[1\] = 0.5", lambda: mdp(start=[0.5, 0.5, 0])),
    (r"TabularMDP.terminal = .*\[0, 2\]", lambda: mdp(terminal=[5], P=P, R=R)),
    (r"TabularMDP.terminal = .*different", lambda: mdp(terminal=[1, 1])),
    (r"TabularMDP.terminal = .*not terminal", lambda: mdp(terminal=[0, 1, 2])),
    (r"TabularMDP.limit = 0", lambda: mdp(limit=0)),
    (r"TabularMDP.states = .*3 names", lambda: mdp(states=["a", "b"])),
    (r"TabularMDP.states = .*different", lambda: mdp(states=["a", "b", "a"])),
    (r"TabularMDP.actions = .*2 names", lambda: mdp(actions=["a"])),
]  # fmt: skip
TYPES: list[tuple[str, Callable[[], object]]] = [
    ("TabularMDP.P = 3", lambda: mdp(P=3)),
    ("TabularMDP.P = 'abc'", lambda: mdp(P="abc")),
    ("TabularMDP.P", lambda: mdp(P=[(0, 0, True, 1.0, 0.0)])),
    ("TabularMDP.P", lambda: mdp(P=np.ones((3, 2, 3), bool), R=R)),
    ("TabularMDP.start = 'a'", lambda: mdp(start="a")),
    ("TabularMDP.start = True", lambda: mdp(start=True)),
    ("TabularMDP.terminal = True", lambda: mdp(terminal=[True, False])),
    ("TabularMDP.terminal = 1", lambda: mdp(terminal=1)),
    ("TabularMDP.limit = 1.5", lambda: mdp(limit=1.5)),
    ("TabularMDP.states", lambda: mdp(states="abc")),
    ("TabularMDP.actions", lambda: mdp(actions=[1, 2])),
]


@pytest.mark.parametrize(("message", "call"), VALUES)
def test_wrong_values_are_refused_by_name(message: str, call: Callable[[], object]) -> None:
    with pytest.raises(ConfigError, match=rf"(?s)^{message}"):
        call()


@pytest.mark.parametrize(("message", "call"), TYPES)
def test_wrong_types_are_refused_by_name(message: str, call: Callable[[], object]) -> None:
    with pytest.raises(ConfigTypeError, match=rf"^{message}"):
        call()


def test_a_file_names_its_path_of_keys() -> None:
    data = mdp().to_dict()
    data["P"] = data["P"][:-1]
    with pytest.raises(ConfigError, match=r"^P\[2, 1\] = "):
        Config.from_dict(data)


# -- gridworlds ------------------------------------------------------------------------------------


def test_the_papers_maps() -> None:
    rooms, square = cm.maps.four_rooms(), cm.maps.five_by_five()
    assert (rooms.n_states, rooms.goals, rooms.gamma, rooms.limit) == (
        53,
        ("A", "B", "C"),
        0.99,
        100,
    )
    assert rooms.position(0) == (1, 1)
    assert rooms.state_at(8, 8) == rooms.terminal[2]
    assert (square.n_states, square.goals) == (25, ("A", "B"))
    assert [square.position(s) for s in square.terminal] == [(0, 4), (4, 4)]
    assert rooms.reachable.all()


def test_moves_and_walls() -> None:
    grid = cm.gridworld("S#A\n...", goals={"A": 1.0}, gamma=0.5, step_reward=-0.1)
    assert grid.actions == ("up", "right", "down", "left")
    #   0 # 1
    #   2 3 4
    expected = {0: [0, 0, 2, 0], 2: [0, 3, 2, 2], 3: [3, 4, 3, 2], 4: [1, 4, 4, 3]}
    for state, targets in expected.items():
        assert grid.P[state].argmax(-1).tolist() == targets
    # The step into a goal pays gamma r.
    assert grid.R[4].tolist() == pytest.approx([-0.1 + 0.5, -0.1, -0.1, -0.1])
    path = grid.shortest_paths()["A"]
    assert path.moves == 4
    assert path.value == pytest.approx(0.5**4 - 0.1 * (1 + 0.5 + 0.25 + 0.125))
    assert float(cm.optimal(grid).value) == pytest.approx(path.value)


def test_slips_go_sideways() -> None:
    grid = cm.gridworld("...\n.S.\n..A", goals={"A": 1}, slip=0.2)
    up = dict(zip(range(9), grid.P[4, 0].tolist(), strict=True))
    assert up[1] == pytest.approx(0.8)
    assert up[3] == up[5] == pytest.approx(0.1)
    right = grid.P[4, 1]
    assert right[5] == pytest.approx(0.8)
    assert right[1] == right[7] == pytest.approx(0.1)
    corner = grid.P[0, 0]  # up and left are walls
    assert corner[0] == pytest.approx(0.9)
    assert corner[1] == pytest.approx(0.1)


def test_text_in_any_layout() -> None:
    plain = cm.gridworld("S.\n.A", {"A": 1})
    assert cm.gridworld(["S.", ".A"], {"A": 1}) == plain
    assert cm.gridworld("\n\n   S.  \n   .A\n\n", {"A": 1.0}) == plain
    assert cm.gridworld("x.\n.A", {"A": 1}, start="x") != plain
    several = cm.gridworld("S.S\n.A.\nS..", {"A": 1})
    assert several.start_distribution[[0, 2, 6]].tolist() == [1 / 3] * 3
    assert several.shortest_paths()["A"].moves == 2


def test_goals_may_be_many_walled_off_or_missing() -> None:
    cliff = cm.gridworld("S.G\nXXX", goals={"G": 1, "X": -1})
    assert cliff.goals == ("G", "X 1,0", "X 1,1", "X 1,2")
    hidden = cm.gridworld("S.B#A", goals={"A": 1, "B": 0.5})
    assert set(hidden.shortest_paths()) == {"B"}
    assert not hidden.reachable[hidden.terminal[1]]
    endless = cm.gridworld("S.", goals={}, step_reward=1.0)
    assert endless.goals == ()
    assert float(cm.evaluate(endless).value) == pytest.approx(100.0)


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("Gridworld.text = '' .*at least one row", lambda: cm.gridworld("", {})),
        ("Gridworld.text row 1 = '...' .*2 char", lambda: cm.gridworld("S.\n...", {})),
        ("Gridworld.text row 0 = 'B' .*'A'", lambda: cm.gridworld("SB", {"A": 1})),
        ("Gridworld.text = '..' .*the start 'S'", lambda: cm.gridworld("..", {})),
        ("Gridworld.text = 3", lambda: cm.gridworld(3, {})),  # type: ignore[arg-type]
        ("Gridworld.text", lambda: cm.gridworld([1, 2], {})),  # type: ignore[list-item]
        ("Gridworld.goals = 'A' .*on the map", lambda: cm.gridworld("S.", {"A": 1})),
        ("Gridworld.goals = '#' ", lambda: cm.gridworld("S.", {"#": 1})),
        ("Gridworld.goals = 'AB' ", lambda: cm.gridworld("S.", {"AB": 1})),
        (r"Gridworld.goals\['A'\] = nan", lambda: cm.gridworld("SA", {"A": np.nan})),
        ("Gridworld.goals = 3", lambda: cm.gridworld("S.", 3)),  # type: ignore[arg-type]
        ("Gridworld.start = 'A' ", lambda: cm.gridworld("SA", {"A": 1}, start="A")),
        (r"Gridworld.slip = 1.5 .*\[0, 1\]", lambda: cm.gridworld("S.", {}, slip=1.5)),
        ("Gridworld.gamma = 1", lambda: cm.gridworld("S.", {}, gamma=1)),
        ("Gridworld.limit = 0", lambda: cm.gridworld("S.", {}, limit=0)),
        ("state = 9", lambda: cm.gridworld("S.", {}).position(9)),
        (r"\(row, column\) = \(0, 1\)", lambda: cm.gridworld("S#", {}).state_at(0, 1)),
    ],
)
def test_wrong_maps_are_refused_by_name(message: str, call: Callable[[], object]) -> None:
    with pytest.raises(ConfigError, match=rf"^{message}"):
        call()


# -- experiments -----------------------------------------------------------------------------------


def experiment(**changes: Any) -> cm.Experiment:
    parts: dict[str, Any] = {
        "problem": mdp(),
        "policy": cm.Softmax(),
        "update": cm.Natural(0.1),
        "estimator": cm.ExactQ(),
        "steps": 5,
    }
    return cm.Experiment(**(parts | changes))


def test_the_default_record_depends_on_the_problem() -> None:
    assert experiment().record == cm.Record("return", "value")
    assert experiment(record=cm.Record(every=2)).record == cm.Record("return", "value", every=2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"estimator": cm.OneSample()},
            "estimator = OneSample.*ExactQ, Reinforce, Group or Expected",
        ),
        ({"policy": cm.Sigmoid()}, r"policy = Sigmoid\(\) .*Softmax"),
        ({"policy": cm.Direct(), "update": cm.Vanilla(0.1)}, r"policy = Direct\(\) .*Softmax"),
        ({"policy": cm.Softmax([0, 0, 0])}, r"policy.theta0 = .*2 numbers.*3 rows"),
        ({"policy": cm.Softmax([[0, 0]])}, r"policy.theta0 = .*shape is \(1, 2\)"),
        ({"update": cm.Projected(0.1)}, "update = Projected.*Natural or Vanilla"),
        ({"update": cm.Natural(0.1, entropy=0.1)}, r"update.entropy = 0.1 .*0 with an MDP"),
        ({"baseline": cm.Gap()}, r"baseline = Gap\(\) .*relative"),
        ({"baseline": cm.RunningMean()}, "baseline = RunningMean.*Reinforce"),
        ({"baseline": cm.Value(), "estimator": cm.Reinforce()}, "baseline = Value.*Constant"),
        ({"behaviour": cm.Fixed([1.0])}, "behaviour.probabilities = .*2 numbers, one per action"),
        ({"record": cm.Record("regret")}, "record.names = 'regret' .*'return', 'length'"),
        ({"record": cm.Record("return", at=9)}, r"record.at = \(9,\)"),
        ({"record": cm.Record("visits", reduce=cm.Reduce(bins=9))}, "record.reduce.range = None"),
        ({"steps": 2**55}, r"steps = .*\(steps \+ 1\) \* limit"),
        ({"problem": cm.Bandit([1, 0])}, "estimator = ExactQ.*OneSample or Expected"),
    ],
    ids=lambda x: str(x)[:60],
)
def test_illegal_combinations_are_refused_by_name(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(CombinationError, match=rf"^Experiment.{message}"):
        experiment(**changes)


def test_bandits_refuse_what_is_for_mdps() -> None:
    bandit = {"problem": cm.Bandit([1, 0]), "estimator": cm.OneSample()}
    with pytest.raises(CombinationError, match=r"record.names = 'return' .*a Bandit records"):
        experiment(**bandit, record=cm.Record("return"))
    with pytest.raises(CombinationError, match=r"policy.theta0 = .*without states"):
        experiment(**bandit, policy=cm.Softmax([[0, 0], [0, 0]]))
    with pytest.raises(CombinationError, match="estimator = Reinforce"):
        experiment(problem=cm.Bandit([1, 0]), estimator=cm.Reinforce())


def test_ranges_hold_for_every_policy() -> None:
    grid = cm.gridworld("S..A\n#B..", goals={"A": 1.0, "B": -2.0}, step_reward=-0.1, limit=9)
    low, high = grid.range_of("return") or (0.0, 0.0)
    rng = np.random.default_rng(0)
    policies = rng.dirichlet(np.full(4, 0.1), size=(500, grid.n_states))
    values = cm.evaluate(grid, policies).value
    bounds = grid.range_of("value")
    assert bounds is not None
    assert bounds[0] <= values.min() < values.max() <= bounds[1]
    best = cm.optimal(grid).value
    assert bounds[1] == pytest.approx(float(best), abs=1e-6)
    exp = experiment(
        problem=grid, estimator=cm.Reinforce(), update=cm.Vanilla(0.1), steps=100,
        record=cm.Record("return", every=1),
    )  # fmt: skip
    returns = cm.run(exp, runs=50, rng=0)["return"].to_numpy()
    assert low <= returns.min() < returns.max() <= high
    assert high == pytest.approx(returns.max(), abs=1e-6)
    assert grid.range_of("length") == (0.5, 9.5)
    assert grid.range_of("visits") is None


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("ExactQ.solver = 'lu'", lambda: cm.ExactQ("lu")),
        ("ExactQ.tolerance = 0", lambda: cm.ExactQ(tolerance=0)),
        ("ExactQ.discounted = 1 ", lambda: cm.ExactQ(discounted=1)),  # type: ignore[arg-type]
        (r"Softmax.theta0\[1\]", lambda: cm.Softmax([[0, 1], [0]])),
        (r"Softmax.theta0\[0\]", lambda: cm.Softmax([[0, np.nan]])),
        ("Softmax.theta0", lambda: cm.Softmax(np.zeros((0, 2)))),
        ("Softmax.theta0", lambda: cm.Softmax(np.zeros((1, 1, 1)))),
    ],
)
def test_wrong_parts_are_refused_by_name(message: str, call: Callable[[], object]) -> None:
    with pytest.raises(ConfigError, match=rf"^{message}"):
        call()
