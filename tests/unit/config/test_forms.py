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

import committal.config as cfg
from committal.config import (
    Bandit,
    Config,
    Constant,
    Decay,
    Direct,
    EpsilonGreedy,
    ExactQ,
    Expected,
    Experiment,
    Fixed,
    Gap,
    Linear,
    Maximum,
    MinVariance,
    Natural,
    OneSample,
    OnPolicy,
    Projected,
    Record,
    Reduce,
    Reinforce,
    RunningMean,
    Sigmoid,
    Softmax,
    TabularMDP,
    UniformMixture,
    Value,
    Values,
    Vanilla,
    gridworld,
    kinds,
)
from committal.config.precision import Precision
from committal.errors import ConfigError, ConfigTypeError

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
    st.builds(Decay, positive_unit, st.floats(0.0, 3.0), st.floats(1.0, 10.0)),
    st.builds(Values, st.lists(positive_unit, min_size=1, max_size=4)),
)
rates_in_unit = st.one_of(positive_unit, schedules_in_unit)


def probability_vectors(arms: int) -> st.SearchStrategy[list[float]]:
    weights = st.lists(st.floats(0.01, 1.0), min_size=arms, max_size=arms)
    return weights.map(lambda w: [x / sum(w) for x in w])


@st.composite
def bandits(draw: st.DrawFn, arms: int | None = None) -> Bandit:
    k = arms or draw(st.integers(1, 4))
    noise = draw(st.sampled_from([None, "bernoulli", "gaussian", "uniform", "table"]))
    names = draw(st.sampled_from([None, [f"lever {i}" for i in range(k)]]))
    if noise == "table":
        rows = []
        for _ in range(k):
            p = draw(probability_vectors(draw(st.integers(1, 3))))
            rows.append([(draw(reals()), q) for q in p])
        return Bandit.from_table(rows, names)
    entries = unit if noise == "bernoulli" else reals()
    means = draw(st.lists(entries, min_size=k, max_size=k))
    spread = st.one_of(reals(0, 10), st.lists(reals(0, 10), min_size=k, max_size=k))
    return Bandit(
        means,
        noise,
        sigma=draw(spread) if noise == "gaussian" else None,
        half_width=draw(spread) if noise == "uniform" else None,
        names=names,
    )


atoms = st.one_of(
    st.builds(Value),
    st.builds(Maximum),
    st.builds(Gap, inside_unit),
    st.builds(MinVariance),
    st.builds(MinVariance, st.just("natural"), st.one_of(st.none(), reals())),
    st.builds(RunningMean, st.one_of(st.none(), positive_unit), reals()),
)
linears = st.builds(
    lambda pairs, c: sum((x * b for x, b in pairs), start=Constant(c)),
    st.lists(st.tuples(reals(), atoms), min_size=1, max_size=3),
    reals(),
)
# Every kind appears here; a test below makes sure of it.
baselines = st.one_of(st.builds(Constant, reals()), atoms, linears)
policies = st.one_of(
    st.builds(Softmax, st.one_of(st.none(), st.lists(reals(), min_size=1, max_size=4))),
    st.builds(Sigmoid, reals()),
    st.builds(Direct, st.one_of(st.none(), probability_vectors(3))),
)
updates = st.one_of(
    st.builds(Natural, st.one_of(positive, schedules_in_unit), rates_in_unit),
    st.builds(Vanilla, st.one_of(positive, schedules_in_unit), rates_in_unit),
    st.builds(Projected, st.one_of(positive, schedules_in_unit)),
)
behaviours = st.one_of(
    st.builds(OnPolicy),
    st.builds(UniformMixture, st.one_of(unit, schedules_in_unit)),
    st.builds(EpsilonGreedy, rates_in_unit),
    st.builds(Fixed, probability_vectors(3)),
)
estimators = st.one_of(
    st.builds(OneSample, st.integers(1, 100), rates_in_unit), st.builds(Expected)
)
histogram_names = ("value", "policy", "entropy", "distance", "theta", "regret")
reductions = st.one_of(
    st.builds(Reduce, st.one_of(st.none(), reals())),
    st.builds(
        Reduce,
        quantiles=st.lists(unit, max_size=3),
        bins=st.integers(1, 4096),
        range=st.one_of(st.none(), st.tuples(reals(-9, 0), reals(1, 9))),
    ),
    st.builds(
        Reduce,
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
def records(draw: st.DrawFn) -> Record:
    if draw(st.booleans()):
        names = draw(st.lists(st.sampled_from(cfg.RECORDABLE), unique=True))
        return Record(*names, **draw(when))
    return Record(*histogram_names, **draw(when), reduce=draw(reductions))


@st.composite
def experiments(draw: st.DrawFn) -> Experiment:
    while True:  # parts drawn apart rarely clash; when they do, others are drawn
        bandit = draw(bandits(3))
        policy, update = draw(
            st.sampled_from(
                [
                    (Softmax([0, 1, 2]), Natural(step_size=0.1)),
                    (Softmax(), Vanilla(step_size=Decay(1, 0.6), entropy=0.1)),
                    (Direct(), Projected(step_size=0.1)),
                ]
            )
        )
        try:
            return Experiment(
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

TWO_STATES = TabularMDP(
    [(0, 0, 1, 0.5, 1), (0, 0, 2, 0.5, 0), (1, 0, 2, 1, 0)], gamma=0.5, start=0, terminal=[2]
)
EXAMPLES: list[Config] = [
    Bandit([1, 0.5]),
    Bandit([0.5, 0.2], "bernoulli", names=["a", "b"]),
    Bandit([1, 0], "gaussian", sigma=2),
    Bandit([1, 0], "gaussian", sigma=[1, 2]),
    Bandit([1, 0], "uniform", half_width=0.5),
    Bandit.from_table([[(1, 0.5), (0, 0.5)], [(0.25, 1)]]),
    Softmax(),
    Softmax([0, 3, 5]),
    Softmax([[0, 3], [5, 1]]),
    Sigmoid(-1),
    Direct([0.25, 0.75]),
    Natural(step_size=0.1, entropy=0.5),
    Vanilla(step_size=Decay(0.5, 0.6)),
    Projected(step_size=Values([0.1, 0.2])),
    OnPolicy(),
    UniformMixture(0.5),
    EpsilonGreedy(Decay(1, 0.25, 2)),
    Fixed([0.5, 0.5]),
    OneSample(samples=4, implicit=0.1),
    Expected(),
    ExactQ("iterative", tolerance=1e-6, discounted=True),
    Reinforce(),
    Decay(1, 0.5),
    Values([1, 2]),
    Constant(-1),
    Value(),
    MinVariance(),
    MinVariance("natural", lam=2),
    Maximum(),
    Gap(0.25),
    RunningMean(rate=0.5, initial=1),
    0.5 * Value() - MinVariance() + 2,
    Record("value", "theta", every=10),
    Record(at=[3, 1]),
    Record("value", log=7, reduce=Reduce(below=0.5, quantiles=[0.5])),
    Reduce(bins=3, range={"theta": (-1, 1)}),
    Experiment(Bandit([1, 0]), Softmax(), Natural(step_size=1), Value() + 1, steps=3),
    TWO_STATES,
    TWO_STATES.replace(start=[0.5, 0.5, 0], actions=["a"], states=["x", "y", "z"]),
    gridworld("S.\n#A", goals={"A": 1}, slip=0.1, step_reward=-0.5),
    Experiment(TWO_STATES, Softmax(), Natural(1), Value(), estimator=ExactQ(), steps=3),
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
        (Bandit([1, 0.5]), "Bandit((1.0, 0.5))"),
        (Bandit([1, 0], "gaussian", 2), "Bandit((1.0, 0.0), noise='gaussian', sigma=2.0)"),
        (Bandit([0.5] * 20), "Bandit((0.5,) * 20)"),
        (Bandit([1], names=["x"]), "Bandit((1.0,), names=('x',))"),
        (Softmax(), "Softmax()"),
        (Sigmoid(0), "Sigmoid()"),
        (Sigmoid(-1), "Sigmoid(-1.0)"),
        (Natural(0.1), "Natural(step_size=0.1)"),
        (Decay(1, 0.5, 3), "Decay(1.0, 0.5, offset=3.0)"),
        (Values([1]), "Values((1.0,))"),
        (OneSample(4), "OneSample(samples=4)"),
        (RunningMean(0.5), "RunningMean(rate=0.5)"),
        (MinVariance("natural"), "MinVariance(metric='natural')"),
        (Record(), "Record()"),
        (Record("policy", "value", every=5), "Record('value', 'policy', every=5)"),
        (Record("theta", at=3), "Record('theta', at=(3,))"),
        (Reduce(below=0.5), "Reduce(below=0.5)"),
    ],
    ids=repr,
)
def test_repr(x: Config, text: str) -> None:
    assert repr(x) == text


def test_printing_an_experiment_shows_one_part_per_line() -> None:
    exp = Experiment(
        Bandit(np.linspace(0, 1, 1000)),
        Softmax(),
        Natural(step_size=0.1),
        MinVariance() + 0.5,
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

GOLDEN = Experiment(
    problem=Bandit([1.0, 0.7, 0.0]),
    policy=Softmax([0, 3, 5]),
    update=Natural(step_size=0.025),
    baseline=MinVariance() + 0.5,
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
        assert Bandit(means) == Bandit([1.0, 0.0])
        assert Bandit(means).hash == Bandit([1.0, 0.0]).hash
    assert Constant(-0.0).hash == Constant(0).hash
    assert Softmax([-0.0]).hash == Softmax([0]).hash
    assert repr(Constant(-0.0)) == "Constant(0.0)"


def test_order_of_keys_does_not_matter() -> None:
    data = GOLDEN.to_dict()
    backwards = dict(reversed(data.items()))
    backwards["update"] = dict(reversed(data["update"].items()))
    assert Experiment.from_dict(backwards).hash == GOLDEN.hash
    assert Record("policy", "value").hash == Record("value", "policy").hash


def test_spelled_out_defaults_change_nothing() -> None:
    explicit = GOLDEN.replace(
        baseline=MinVariance(metric="gradient", lam=None) + 0.5,
        behaviour=OnPolicy(),
        estimator=OneSample(samples=1, implicit=0),
        record=Record("value", "policy"),
        problem=Bandit([1, 0.7, 0], names=["arm 1", "arm 2", "arm 3"]),
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
        {"baseline": MinVariance("natural") + 0.5},
        {"record": Record("value")},
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
    bandit, policy = Bandit(means), Softmax(theta0)
    means[0], theta0[0] = 5.0, 5.0
    assert bandit.means == (1.0, 0.0)
    assert policy.theta0 == (0.0, 1.0)


# -- replace ---------------------------------------------------------------------------------------


def test_replace_reaches_into_parts() -> None:
    exp = GOLDEN.replace(**{"update.step_size": 0.5, "steps": 7, "problem.names": ["a", "b", "c"]})
    assert exp.update == Natural(step_size=0.5)
    assert exp.steps == 7
    assert exp.problem.names == ("a", "b", "c")  # type: ignore[attr-defined]
    assert GOLDEN.steps == 1000


def test_replace_reaches_two_levels_down() -> None:
    exp = GOLDEN.replace(update=Natural(step_size=Decay(1, 0.5)))
    assert exp.replace(**{"update.step_size.power": 1}).update == Natural(step_size=Decay(1, 1))


def test_replace_takes_whole_parts_first() -> None:
    exp = GOLDEN.replace(**{"update.step_size": 0.5, "update": Vanilla(step_size=1, entropy=0.1)})
    assert exp.update == Vanilla(step_size=0.5, entropy=0.1)


def test_replace_collapses_baselines() -> None:
    assert GOLDEN.replace(**{"baseline.offset": 0}).baseline == MinVariance()
    assert GOLDEN.replace(baseline=2).baseline == Constant(2.0)


def test_replace_may_change_the_number_of_arms() -> None:
    bandit = Bandit([1, 0], "gaussian", sigma=2)
    wider = bandit.replace(means=[1, 2, 3])
    assert wider.names == ("arm 1", "arm 2", "arm 3")
    assert wider.sigma == (2.0, 2.0, 2.0)


def test_replace_validates_again() -> None:
    with pytest.raises(ConfigError, match=r"^Natural.step_size = -1 is not allowed"):
        GOLDEN.replace(**{"update.step_size": -1})
    with pytest.raises(ConfigError, match=r"^Experiment.update = Projected"):
        GOLDEN.replace(update=Projected(step_size=0.1))


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
        Experiment.from_dict(changed(path, value))


def test_from_dict_names_missing_keys() -> None:
    data = GOLDEN.to_dict()
    del data["policy"]
    with pytest.raises(ConfigError, match=r"^policy = None is not allowed; .*required"):
        Experiment.from_dict(data)


def test_from_dict_wants_the_class_it_is_called_on() -> None:
    with pytest.raises(ConfigError, match=r"^kind = 'softmax' .*one of the kinds 'sigmoid'"):
        Sigmoid.from_dict(Softmax().to_dict())
    assert Sigmoid.from_dict({"theta0": 1}) == Sigmoid(1)


@pytest.mark.parametrize("data", [None, 3, [1], "kind"])
def test_from_dict_wants_a_mapping(data: Any) -> None:
    with pytest.raises(ConfigTypeError, match=r"^data = .* a mapping"):
        Config.from_dict(data)


def test_kind_may_be_left_out_where_there_is_only_one() -> None:
    data = GOLDEN.to_dict()
    del data["kind"], data["record"]["kind"]
    assert Experiment.from_dict(data) == GOLDEN


def test_numbers_stand_for_baselines_in_files() -> None:
    text = """
    steps = 10
    baseline = 1
    problem = { kind = "bandit", means = [1, 0] }
    policy = { kind = "softmax" }
    update = { kind = "natural", step_size = 1 }
    """
    assert Experiment.from_toml(text).baseline == Constant(1.0)


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
    assert (0.9 * Value() - 0.1).to_dict() == {
        "kind": "linear",
        "terms": [[0.9, {"kind": "value"}]],
        "offset": -0.1,
    }
    assert isinstance(0.9 * Value() - 0.1, Linear)
