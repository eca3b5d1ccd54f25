"""All configuration objects: text forms, hashes, copies, immutability, `replace`."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import committal as cm
import committal.config as cfg
from committal.config import Config, Linear, kinds
from committal.errors import ConfigError, ConfigTypeError
from committal.inference.sequences import Precision

EVERYTHING: dict[str, Any] = {name: getattr(cfg, name) for name in dir(cfg) if name[0] != "_"}

# -- strategies ------------------------------------------------------------------------------------


def reals(low: float = -1e6, high: float = 1e6, **options: Any) -> st.SearchStrategy[Any]:
    floats = st.floats(low, high, allow_nan=False, **options)
    integers = st.integers(max(int(low), -1000), min(int(high), 1000))
    inside = integers.filter(lambda n: not (options.get("exclude_min") and n <= low))
    return st.one_of(floats, inside, floats.map(np.float64)) if high > 1 else floats


unit = st.floats(0.0, 1.0)
positive_unit = st.floats(1e-6, 1.0)
inside_unit = st.floats(1e-6, 0.999)
positive = reals(1e-6, 1e3, exclude_min=True).filter(lambda x: x > 0)

schedules_in_unit = st.one_of(
    st.builds(cm.Decay, positive_unit, st.floats(0.0, 3.0), st.floats(1.0, 10.0)),
    st.builds(cm.Values, st.lists(positive_unit, min_size=1, max_size=4)),
)
rates_in_unit = st.one_of(positive_unit, schedules_in_unit)


def probability_vectors(arms: int) -> st.SearchStrategy[list[float]]:
    weights = st.lists(st.floats(0.01, 1.0), min_size=arms, max_size=arms)
    return weights.map(lambda w: [x / sum(w) for x in w])


@st.composite
def bandits(draw: st.DrawFn, arms: int | None = None) -> cm.Bandit:
    k = arms or draw(st.integers(1, 4))
    noise = draw(st.sampled_from([None, "bernoulli", "gaussian", "uniform", "table"]))
    names = draw(st.sampled_from([None, [f"lever {i}" for i in range(k)]]))
    if noise == "table":
        rows = []
        for _ in range(k):
            p = draw(probability_vectors(draw(st.integers(1, 3))))
            rows.append([(draw(reals()), q) for q in p])
        return cm.Bandit.from_table(rows, names)
    entries = unit if noise == "bernoulli" else reals()
    means = draw(st.lists(entries, min_size=k, max_size=k))
    spread = st.one_of(reals(0, 10), st.lists(reals(0, 10), min_size=k, max_size=k))
    return cm.Bandit(
        means,
        noise,
        sigma=draw(spread) if noise == "gaussian" else None,
        half_width=draw(spread) if noise == "uniform" else None,
        names=names,
    )


atoms = st.one_of(
    st.builds(cm.Value),
    st.builds(cm.Maximum),
    st.builds(cm.Gap, inside_unit),
    st.builds(cm.MinVariance),
    st.builds(cm.MinVariance, st.just("natural"), st.one_of(st.none(), reals())),
    st.builds(cm.RunningMean, st.one_of(st.none(), positive_unit), reals()),
)
linears = st.builds(
    lambda pairs, c: sum((x * b for x, b in pairs), start=cm.Constant(c)),
    st.lists(st.tuples(reals(), atoms), min_size=1, max_size=3),
    reals(),
)
# Every kind appears here; a test below makes sure of it.
baselines = st.one_of(st.builds(cm.Constant, reals()), atoms, linears)
policies = st.one_of(
    st.builds(cm.Softmax, st.one_of(st.none(), st.lists(reals(), min_size=1, max_size=4))),
    st.builds(cm.Sigmoid, reals()),
    st.builds(cm.Direct, st.one_of(st.none(), probability_vectors(3))),
)
updates = st.one_of(
    st.builds(cm.Natural, st.one_of(positive, schedules_in_unit), rates_in_unit),
    st.builds(cm.Vanilla, st.one_of(positive, schedules_in_unit), rates_in_unit),
    st.builds(cm.Projected, st.one_of(positive, schedules_in_unit)),
)
behaviours = st.one_of(
    st.builds(cm.OnPolicy),
    st.builds(cm.UniformMixture, st.one_of(unit, schedules_in_unit)),
    st.builds(cm.EpsilonGreedy, rates_in_unit),
    st.builds(cm.Fixed, probability_vectors(3)),
)
estimators = st.one_of(
    st.builds(cm.OneSample, st.integers(1, 100), rates_in_unit), st.builds(cm.Expected)
)
histogram_names = ("value", "policy", "entropy", "distance", "theta", "regret")
reductions = st.one_of(
    st.builds(cm.Reduce, st.one_of(st.none(), reals())),
    st.builds(
        cm.Reduce,
        quantiles=st.lists(unit, max_size=3),
        bins=st.integers(1, 4096),
        range=st.one_of(st.none(), st.tuples(reals(-9, 0), reals(1, 9))),
    ),
    st.builds(
        cm.Reduce,
        bins=st.integers(1, 9),
        range=st.dictionaries(
            st.sampled_from(["theta", "regret"]),
            st.tuples(reals(-9, 0), reals(2, 9)),
            min_size=1,
        ),
    ),
)
when: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.just({}),
    st.fixed_dictionaries({"every": st.integers(1, 50)}),
    st.fixed_dictionaries({"log": st.integers(2, 50)}),
    st.fixed_dictionaries({"at": st.lists(st.integers(0, 5), min_size=1)}),
)


@st.composite
def records(draw: st.DrawFn) -> cm.Record:
    if draw(st.booleans()):
        names = draw(st.lists(st.sampled_from(cfg.RECORDABLE), unique=True))
        return cm.Record(*names, **draw(when))
    return cm.Record(*histogram_names, **draw(when), reduce=draw(reductions))


@st.composite
def experiments(draw: st.DrawFn) -> cm.Experiment:
    while True:  # parts drawn apart rarely clash; when they do, others are drawn
        bandit = draw(bandits(3))
        policy, update = draw(
            st.sampled_from(
                [
                    (cm.Softmax([0, 1, 2]), cm.Natural(step_size=0.1)),
                    (cm.Softmax(), cm.Vanilla(step_size=cm.Decay(1, 0.6), entropy=0.1)),
                    (cm.Direct(), cm.Projected(step_size=0.1)),
                ]
            )
        )
        try:
            return cm.Experiment(
                bandit,
                policy,
                update,
                draw(baselines),
                draw(behaviours),
                draw(estimators),
                steps=draw(st.integers(5, 1000)),
                record=draw(records()),
            )
        except ConfigError:
            continue


anything: st.SearchStrategy[Config] = st.one_of(
    bandits(),
    policies,
    updates,
    baselines,
    behaviours,
    estimators,
    schedules_in_unit,
    reductions,
    records(),
    experiments(),
)

quick = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)

TWO_STATES = cm.TabularMDP(
    [(0, 0, 1, 0.5, 1), (0, 0, 2, 0.5, 0), (1, 0, 2, 1, 0)], gamma=0.5, start=0, terminal=[2]
)
EXAMPLES: list[Config] = [
    cm.Bandit([1, 0.5]),
    cm.Bandit([0.5, 0.2], "bernoulli", names=["a", "b"]),
    cm.Bandit([1, 0], "gaussian", sigma=2),
    cm.Bandit([1, 0], "gaussian", sigma=[1, 2]),
    cm.Bandit([1, 0], "uniform", half_width=0.5),
    cm.Bandit.from_table([[(1, 0.5), (0, 0.5)], [(0.25, 1)]]),
    cm.Softmax(),
    cm.Softmax([0, 3, 5]),
    cm.Softmax([[0, 3], [5, 1]]),
    cm.Sigmoid(-1),
    cm.Direct([0.25, 0.75]),
    cm.Natural(step_size=0.1, entropy=0.5),
    cm.Vanilla(step_size=cm.Decay(0.5, 0.6)),
    cm.Projected(step_size=cm.Values([0.1, 0.2])),
    cm.OnPolicy(),
    cm.UniformMixture(0.5),
    cm.EpsilonGreedy(cm.Decay(1, 0.25, 2)),
    cm.Fixed([0.5, 0.5]),
    cm.OneSample(samples=4, implicit=0.1),
    cm.Expected(),
    cm.ExactQ("iterative", tolerance=1e-6, discounted=True),
    cm.Reinforce(),
    cm.Decay(1, 0.5),
    cm.Values([1, 2]),
    cm.Constant(-1),
    cm.Value(),
    cm.MinVariance(),
    cm.MinVariance("natural", lam=2),
    cm.Maximum(),
    cm.Gap(0.25),
    cm.RunningMean(rate=0.5, initial=1),
    0.5 * cm.Value() - cm.MinVariance() + 2,
    cm.Record("value", "theta", every=10),
    cm.Record(at=[3, 1]),
    cm.Record("value", log=7, reduce=cm.Reduce(below=0.5, quantiles=[0.5])),
    cm.Reduce(bins=3, range={"theta": (-1, 1)}),
    cm.Experiment(
        cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(step_size=1), cm.Value() + 1, steps=3
    ),
    TWO_STATES,
    TWO_STATES.replace(start=[0.5, 0.5, 0], actions=["a"], states=["x", "y", "z"]),
    cm.gridworld("S.\n#A", goals={"A": 1}, slip=0.1, step_reward=-0.5),
    cm.Experiment(
        TWO_STATES, cm.Softmax(), cm.Natural(1), cm.Value(), estimator=cm.ExactQ(), steps=3
    ),
    Precision("failure", half_width=0.01, below=0.9),
]
by_repr = pytest.mark.parametrize("x", EXAMPLES, ids=repr)


def test_every_kind_has_an_example() -> None:
    assert {type(x) for x in EXAMPLES} == set(kinds(Config).values())


# -- round trips -----------------------------------------------------------------------------------


def assert_round_trips(x: Config) -> None:
    family = type(x)
    back = [
        family.from_dict(x.to_dict()),
        Config.from_dict(x.to_dict()),
        family.from_json(x.to_json()),
        Config.from_json(x.to_json(indent=None).encode()),
        Config.from_toml(x.to_toml()),
        pickle.loads(pickle.dumps(x)),
        copy.copy(x),
        copy.deepcopy(x),
        x.replace(),
        eval(repr(x), dict(EVERYTHING, Precision=Precision)),
    ]
    for y in back:
        assert type(y) is family
        assert y == x
        assert hash(y) == hash(x)
        assert y.hash == x.hash
        assert repr(y) == repr(x)


@by_repr
def test_examples_round_trip(x: Config) -> None:
    assert_round_trips(x)


@quick
@given(anything)
def test_everything_round_trips(x: Config) -> None:
    assert_round_trips(x)


@quick
@given(anything, anything)
def test_equal_objects_have_equal_hashes_and_others_do_not(x: Config, y: Config) -> None:
    assert (x == y) == (x.hash == y.hash)


@by_repr
def test_forms_are_plain(x: Config) -> None:
    data = x.to_dict()
    assert next(iter(data)) == "kind"
    assert json.loads(json.dumps(data)) == data  # no tuples, no numpy, no None lost
    assert None not in data.values()


# -- printing --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (cm.Bandit([1, 0.5]), "Bandit((1.0, 0.5))"),
        (cm.Bandit([1, 0], "gaussian", 2), "Bandit((1.0, 0.0), noise='gaussian', sigma=2.0)"),
        (cm.Bandit([0.5] * 20), "Bandit((0.5,) * 20)"),
        (cm.Bandit([1], names=["x"]), "Bandit((1.0,), names=('x',))"),
        (cm.Softmax(), "Softmax()"),
        (cm.Sigmoid(0), "Sigmoid()"),
        (cm.Sigmoid(-1), "Sigmoid(-1.0)"),
        (cm.Natural(0.1), "Natural(step_size=0.1)"),
        (cm.Decay(1, 0.5, 3), "Decay(1.0, 0.5, offset=3.0)"),
        (cm.Values([1]), "Values((1.0,))"),
        (cm.OneSample(4), "OneSample(samples=4)"),
        (cm.RunningMean(0.5), "RunningMean(rate=0.5)"),
        (cm.MinVariance("natural"), "MinVariance(metric='natural')"),
        (cm.Record(), "Record()"),
        (cm.Record("policy", "value", every=5), "Record('value', 'policy', every=5)"),
        (cm.Record("theta", at=3), "Record('theta', at=(3,))"),
        (cm.Reduce(below=0.5), "Reduce(below=0.5)"),
    ],
    ids=repr,
)
def test_repr(x: Config, text: str) -> None:
    assert repr(x) == text


def test_printing_an_experiment_shows_one_part_per_line() -> None:
    exp = cm.Experiment(
        cm.Bandit(np.linspace(0, 1, 1000)),
        cm.Softmax(),
        cm.Natural(step_size=0.1),
        cm.MinVariance() + 0.5,
        steps=7,
    )
    lines = str(exp).splitlines()
    assert lines[0] == "Experiment"
    assert [line.split()[0] for line in lines[1:]] == [
        "problem",
        "policy",
        "update",
        "baseline",
        "behaviour",
        "estimator",
        "steps",
        "record",
    ]
    assert lines[4] == "  baseline   MinVariance() + 0.5"
    assert max(map(len, lines)) < 250
    assert repr(exp).startswith("Experiment(problem=Bandit((0.0, 0.001001001001001001, ")
    assert "behaviour" not in repr(exp)


# -- hashes ----------------------------------------------------------------------------------------

GOLDEN = cm.Experiment(
    problem=cm.Bandit([1.0, 0.7, 0.0]),
    policy=cm.Softmax([0, 3, 5]),
    update=cm.Natural(step_size=0.025),
    baseline=cm.MinVariance() + 0.5,
    steps=1000,
)


def test_golden_hash() -> None:
    # Stored results are found by this hash: it may change only on purpose.
    assert GOLDEN.hash == "e7f0627301f96b03e3a1fed70c98c33ef3985ecf3c6a05d953d3180a5a82cee6"


def test_hash_is_the_same_in_another_process() -> None:
    code = (
        "from committal.config import *;"
        "print(Experiment(Bandit([1, 0.7, 0]), Softmax([0, 3, 5]), Natural(0.025),"
        " 0.5 + MinVariance(), steps=1000).hash)"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert printed.stdout.strip() == GOLDEN.hash


def test_integers_floats_and_numpy_numbers_are_one() -> None:
    numpy_list: list[Any] = [np.float32(1), np.int8(0)]
    given: list[Any] = [[1, 0], [1.0, 0.0], (1, 0.0), np.array([1, 0]), numpy_list]
    for means in given:
        assert cm.Bandit(means) == cm.Bandit([1.0, 0.0])
        assert cm.Bandit(means).hash == cm.Bandit([1.0, 0.0]).hash
    assert cm.Constant(-0.0).hash == cm.Constant(0).hash
    assert cm.Softmax([-0.0]).hash == cm.Softmax([0]).hash
    assert repr(cm.Constant(-0.0)) == "Constant(0.0)"


def test_order_of_keys_does_not_matter() -> None:
    data = GOLDEN.to_dict()
    backwards = dict(reversed(data.items()))
    backwards["update"] = dict(reversed(data["update"].items()))
    assert cm.Experiment.from_dict(backwards).hash == GOLDEN.hash
    assert cm.Record("policy", "value").hash == cm.Record("value", "policy").hash


def test_spelled_out_defaults_change_nothing() -> None:
    explicit = GOLDEN.replace(
        baseline=cm.MinVariance(metric="gradient", lam=None) + 0.5,
        behaviour=cm.OnPolicy(),
        estimator=cm.OneSample(samples=1, implicit=0),
        record=cm.Record("value", "policy"),
        problem=cm.Bandit([1, 0.7, 0], names=["arm 1", "arm 2", "arm 3"]),
    )
    assert explicit == GOLDEN
    assert explicit.hash == GOLDEN.hash


@pytest.mark.parametrize(
    "changes",
    [
        {"steps": 1001},
        {"problem.means": [1.0, 0.7, 1e-300]},
        {"policy.theta0": None},
        {"update.step_size": 0.0250000000000001},
        {"baseline": cm.MinVariance("natural") + 0.5},
        {"record": cm.Record("value")},
        {"problem.names": ["a", "b", "c"]},
    ],
    ids=str,
)
def test_every_change_changes_the_hash(changes: dict[str, Any]) -> None:
    assert GOLDEN.replace(**changes).hash != GOLDEN.hash
    assert GOLDEN.replace(**changes) != GOLDEN


# -- immutability ----------------------------------------------------------------------------------


@by_repr
def test_immutable_and_hashable(x: Config) -> None:
    assert {x: 1}[x.replace()] == 1
    for field in dataclasses.fields(x):  # type: ignore[arg-type]
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(x, field.name, None)
        with pytest.raises(dataclasses.FrozenInstanceError):
            delattr(x, field.name)
    # A frozen class with slots refuses new names too, with one error or the other.
    with pytest.raises((AttributeError, TypeError)):
        x.anything_else = 1  # type: ignore[attr-defined]
    assert not hasattr(x, "__dict__")


def test_what_was_given_can_be_changed_without_harm() -> None:
    means = np.array([1.0, 0.0])
    theta0 = [0.0, 1.0]
    bandit, policy = cm.Bandit(means), cm.Softmax(theta0)
    means[0], theta0[0] = 5.0, 5.0
    assert bandit.means == (1.0, 0.0)
    assert policy.theta0 == (0.0, 1.0)


# -- replace ---------------------------------------------------------------------------------------


def test_replace_reaches_into_parts() -> None:
    exp = GOLDEN.replace(**{"update.step_size": 0.5, "steps": 7, "problem.names": ["a", "b", "c"]})
    assert exp.update == cm.Natural(step_size=0.5)
    assert exp.steps == 7
    assert exp.problem.names == ("a", "b", "c")  # type: ignore[attr-defined]
    assert GOLDEN.steps == 1000


def test_replace_reaches_two_levels_down() -> None:
    exp = GOLDEN.replace(update=cm.Natural(step_size=cm.Decay(1, 0.5)))
    assert exp.replace(**{"update.step_size.power": 1}).update == cm.Natural(
        step_size=cm.Decay(1, 1)
    )


def test_replace_takes_whole_parts_first() -> None:
    exp = GOLDEN.replace(
        **{"update.step_size": 0.5, "update": cm.Vanilla(step_size=1, entropy=0.1)}
    )
    assert exp.update == cm.Vanilla(step_size=0.5, entropy=0.1)


def test_replace_collapses_baselines() -> None:
    assert GOLDEN.replace(**{"baseline.offset": 0}).baseline == cm.MinVariance()
    assert GOLDEN.replace(baseline=2).baseline == cm.Constant(2.0)


def test_replace_may_change_the_number_of_arms() -> None:
    bandit = cm.Bandit([1, 0], "gaussian", sigma=2)
    wider = bandit.replace(means=[1, 2, 3])
    assert wider.names == ("arm 1", "arm 2", "arm 3")
    assert wider.sigma == (2.0, 2.0, 2.0)


def test_replace_validates_again() -> None:
    with pytest.raises(ConfigError, match=r"^Natural.step_size = -1 is not allowed"):
        GOLDEN.replace(**{"update.step_size": -1})
    with pytest.raises(ConfigError, match=r"^Experiment.update = Projected"):
        GOLDEN.replace(update=cm.Projected(step_size=0.1))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stepz": 1}, r"^Experiment.stepz = 1 .* one of the arguments .*; did you mean 'steps'\?"),
        ({"update.stepsize": 1}, r"^Natural.stepsize = 1 .*; did you mean 'step_size'\?"),
        ({"nothing.at.all": 1}, r"^Experiment.nothing = 1 "),
        ({"steps.power": 1}, r"^Experiment.steps.power = 1 .* steps is 1000, which has no parts"),
        ({"update__step_size": 1}, r"^Experiment.update__step_size = 1 "),
    ],
    ids=str,
)
def test_replace_refuses_unknown_paths(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        GOLDEN.replace(**changes)


# -- from_dict -------------------------------------------------------------------------------------


def changed(path: str, value: Any) -> dict[str, Any]:
    data = GOLDEN.to_dict()
    *heads, last = path.split(".")
    part = data
    for head in heads:
        part = part[head]
    part[last] = value
    return data


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("steps", -1, r"^steps = -1 is not allowed; expected an integer in \[0, "),
        ("stepz", 1, r"^stepz = 1 .*one of the keys 'kind', 'problem', .*did you mean 'steps'\?"),
        ("policy.kind", "sofmax", r"^policy.kind = 'sofmax' .* 'direct'; did you mean 'softmax'\?"),
        ("policy.kind", "natural", r"^policy.kind = 'natural' .*one of the kinds 'softmax', 'sig"),
        ("policy.kind", None, r"^policy.kind = None .*one of the kinds 'softmax'"),
        ("policy.kind", ["x"], r"^policy.kind = \['x'\] .*one of the kinds 'softmax'"),
        ("policy.theta", 1, r"^policy.theta = 1 .*did you mean 'theta0'\?"),
        ("policy.theta0", [1, "a"], r"^policy.theta0 = \[1, 'a'\] is not allowed; expected finite"),
        ("policy.theta0", [1, 2], r"^policy.theta0 = \(1.0, 2.0\) .* 3 numbers, one per arm"),
        ("policy", 3, r"^policy = 3 is not allowed; expected an instance of Softmax, Sigmoid"),
        ("baseline", {"kind": "min_variance", "metric": "x"}, r"^baseline.metric = 'x' is not"),
        ("baseline", "value", r"^baseline = 'value' is not allowed; expected a finite number or"),
        (
            "baseline",
            {"kind": "linear", "terms": [[1, {"kind": "valu"}]]},
            r"^baseline.terms\[0\]\[1\].kind = 'valu' .*did you mean 'value'\?",
        ),
        (
            "baseline",
            {"kind": "linear", "terms": [[1, {"kind": "gap", "fraction": 2}]]},
            r"^baseline.terms\[0\]\[1\].fraction = 2 is not allowed; expected a number in \(0, 1\)",
        ),
        ("update.step_size", None, r"^update.step_size = None .*this key is required"),
        ("update.step_size", {"kind": "decay"}, r"^update.step_size.scale = None .*required"),
        ("update.step_size", {"kind": "softmax"}, r"^update.step_size.kind = 'softmax' .*'decay'"),
        ("update", {"kind": "projected", "step_size": 1}, r"^update = Projected\(.*Natural or Van"),
        ("record.at", [5000], r"^record.at = \(5000,\) .*times in \[0, 1000\]"),
        ("record.names", "value", r"^record.names = 'value' .*a sequence of names"),
        ("record.names", ["valu"], r"^record.names = 'valu' .*did you mean 'value'\?"),
        ("problem.noise", "benoulli", r"^problem.noise = 'benoulli' .*did you mean 'bernoulli'\?"),
    ],
)
def test_from_dict_names_the_path(path: str, value: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        cm.Experiment.from_dict(changed(path, value))


def test_from_dict_names_missing_keys() -> None:
    data = GOLDEN.to_dict()
    del data["policy"]
    with pytest.raises(ConfigError, match=r"^policy = None is not allowed; .*required"):
        cm.Experiment.from_dict(data)


def test_from_dict_wants_the_class_it_is_called_on() -> None:
    with pytest.raises(ConfigError, match=r"^kind = 'softmax' .*one of the kinds 'sigmoid'"):
        cm.Sigmoid.from_dict(cm.Softmax().to_dict())
    assert cm.Sigmoid.from_dict({"theta0": 1}) == cm.Sigmoid(1)


@pytest.mark.parametrize("data", [None, 3, [1], "kind"])
def test_from_dict_wants_a_mapping(data: Any) -> None:
    with pytest.raises(ConfigTypeError, match=r"^data = .* a mapping"):
        Config.from_dict(data)


def test_kind_may_be_left_out_where_there_is_only_one() -> None:
    data = GOLDEN.to_dict()
    del data["kind"], data["record"]["kind"]
    assert cm.Experiment.from_dict(data) == GOLDEN


def test_numbers_stand_for_baselines_in_files() -> None:
    text = """
    steps = 10
    baseline = 1
    problem = { kind = "bandit", means = [1, 0] }
    policy = { kind = "softmax" }
    update = { kind = "natural", step_size = 1 }
    """
    assert cm.Experiment.from_toml(text).baseline == cm.Constant(1.0)


@pytest.mark.parametrize("text", ["{", "{'a'}", '{"kind": "constant", "c": NaN}', "[]"])
def test_broken_json_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="not allowed"):
        Config.from_json(text)


def test_broken_text_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^text = 'a = ' .*valid TOML"):
        Config.from_toml("a = ")
    with pytest.raises(ConfigTypeError, match=r"^text = 3 .*a string of TOML"):
        Config.from_toml(3)  # type: ignore[arg-type]
    with pytest.raises(ConfigTypeError, match=r"^text = 3 .*a string of JSON"):
        Config.from_json(3)  # type: ignore[arg-type]


def test_linear_is_written_as_its_terms() -> None:
    assert (0.9 * cm.Value() - 0.1).to_dict() == {
        "kind": "linear",
        "terms": [[0.9, {"kind": "value"}]],
        "offset": -0.1,
    }
    assert isinstance(0.9 * cm.Value() - 0.1, Linear)
