"""All configuration objects: text forms, copies, printing."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import committal as cm
import committal.config as cfg
from committal.config import Config, kinds
from committal.errors import ConfigError

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


# -- round trips -----------------------------------------------------------------------------------


def test_every_kind_has_an_example(examples: list[Config]) -> None:
    assert {type(x) for x in examples} == set(kinds(Config).values())


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
        eval(repr(x), dict(EVERYTHING, Precision=cm.Precision)),
    ]
    for y in back:
        assert type(y) is family
        assert y == x
        assert hash(y) == hash(x)
        assert y.hash == x.hash
        assert repr(y) == repr(x)


def test_examples_round_trip(example: Config) -> None:
    assert_round_trips(example)


@quick
@given(anything)
def test_everything_round_trips(x: Config) -> None:
    assert_round_trips(x)


@quick
@given(anything, anything)
def test_equal_objects_have_equal_hashes_and_others_do_not(x: Config, y: Config) -> None:
    assert (x == y) == (x.hash == y.hash)


def test_forms_are_plain(example: Config) -> None:
    data = example.to_dict()
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
