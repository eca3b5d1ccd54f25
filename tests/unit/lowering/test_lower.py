"""Lowering: every part of an experiment becomes the right numbers."""

from __future__ import annotations

import dataclasses
import math
import pickle
from typing import Any

import numpy as np
import pytest

import committal as cm
from committal.config import Baseline, Behaviour, FormulaPart, Policy, Update, kinds
from committal.errors import CombinationError, ConfigTypeError
from committal.lowering import BanditPlan, core_names, lower

TWO = cm.Bandit([1.0, 0.0])


def lowered(**changes: Any) -> BanditPlan:
    parts: dict[str, Any] = {
        "problem": cm.Bandit([1.0, 0.7, 0.0]),
        "policy": cm.Softmax(),
        "update": cm.Natural(step_size=0.1),
        "steps": 4,
    }
    return lower(cm.Experiment(**(parts | changes)))


def test_a_plain_experiment() -> None:
    plan = lowered()
    assert (plan.arms, plan.steps, plan.samples) == (3, 4, 1)
    assert (plan.policy, plan.update, plan.estimator) == ("softmax", "natural", "sampled")
    assert (plan.behaviour, plan.noise) == ("on_policy", "deterministic")
    assert plan.contrast is False
    assert plan.baseline_terms == ()
    assert plan.baseline_offset == 0.0
    assert plan.running_mean_initial == 0.0
    expected: dict[str, list[float]] = {
        "theta0": [0, 0, 0],
        "step_size": [0.1],
        "entropy": [0],
        "implicit": [0],
        "exploration": [0],
        "behaviour_probabilities": [],
        "means": [1.0, 0.7, 0.0],
        "spread": [0, 0, 0],
        "table_offsets": [],
        "table_values": [],
        "table_cumulative": [],
        "reward_variance": [0, 0, 0],
        "times": [4],
    }
    for name, values in expected.items():
        assert getattr(plan, name).tolist() == values, name


def test_arrays_are_read_only_and_typed() -> None:
    plan = lowered(
        problem=cm.Bandit.from_table([[(1, 1)]] * 3), behaviour=cm.Fixed([0.2, 0.3, 0.5])
    )
    arrays = {f.name: getattr(plan, f.name) for f in dataclasses.fields(plan)}
    arrays = {name: x for name, x in arrays.items() if isinstance(x, np.ndarray)}
    assert len(arrays) == 13
    for name, array in arrays.items():
        expected = np.int64 if name in ("times", "table_offsets") else np.float64
        assert array.dtype == expected, name
        assert array.ndim == 1
        assert array.flags.c_contiguous
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.steps = 5  # type: ignore[misc]


def test_core_arguments_are_the_fields() -> None:
    plan = lowered(baseline=cm.Value() + 1)
    arguments = plan.core_arguments()
    assert list(arguments) == [field.name for field in dataclasses.fields(BanditPlan)]
    assert arguments["baseline_terms"] == [("value", 1.0, 0.0)]
    assert isinstance(arguments["baseline_terms"], list)
    assert arguments["means"] is plan.means


def test_plans_pickle() -> None:
    plan = lowered(baseline=cm.Value() + 1, record=cm.Record(every=1))
    again = pickle.loads(pickle.dumps(plan))
    for name, value in plan.core_arguments().items():
        np.testing.assert_array_equal(getattr(again, name), value)


# -- policies and updates --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "name", "contrast", "theta0"),
    [
        (cm.Softmax(), "softmax", False, [0, 0]),
        (cm.Softmax([1, 2]), "softmax", False, [1, 2]),
        (cm.Sigmoid(-1), "softmax", True, [-1, 0]),
        (cm.Direct(), "direct", False, [0.5, 0.5]),
        (cm.Direct([0.25, 0.75]), "direct", False, [0.25, 0.75]),
    ],
)
def test_policies(policy: Policy, name: str, contrast: bool, theta0: list[float]) -> None:
    plan = lowered(problem=TWO, policy=policy, update=cm.Vanilla(step_size=1))
    assert (plan.policy, plan.contrast) == (name, contrast)
    assert plan.theta0.tolist() == theta0


@pytest.mark.parametrize(
    ("policy", "update", "name", "step_size"),
    [
        (cm.Softmax(), cm.Natural(step_size=0.3), "natural", 0.3),
        (cm.Softmax(), cm.Vanilla(step_size=0.3), "vanilla", 0.3),
        (cm.Sigmoid(), cm.Natural(step_size=0.3), "natural", 0.3),
        (cm.Sigmoid(), cm.Vanilla(step_size=0.3), "vanilla", 0.15),
        (cm.Direct(), cm.Vanilla(step_size=0.3), "projected", 0.3),
        (cm.Direct(), cm.Projected(step_size=0.3), "projected", 0.3),
    ],
)
def test_updates(policy: Policy, update: Update, name: str, step_size: float) -> None:
    plan = lowered(problem=TWO, policy=policy, update=update)
    assert plan.update == name
    assert plan.step_size.tolist() == [step_size]


@pytest.mark.parametrize("update", [cm.Natural(0.3, entropy=0.2), cm.Vanilla(0.3, entropy=0.2)])
@pytest.mark.parametrize("arm", [0, 1])
def test_a_sigmoid_moves_as_the_difference_of_two_softmax_parameters(
    update: cm.Natural | cm.Vanilla, arm: int
) -> None:
    theta, reward, b = -0.4, 0.8, 0.25
    plan = lowered(problem=TWO, policy=cm.Sigmoid(theta), update=update, baseline=b)
    p = 1 / (1 + math.exp(-theta))
    # The sigmoid's own rules, from its score d log pi / d theta and its Fisher information.
    score = (1 - p) if arm == 0 else -p
    fisher = p * (1 - p)
    gradient = (reward - b) * score - 0.2 * fisher * theta  # dH / d theta = -p (1 - p) theta
    expected = 0.3 * (gradient / fisher if isinstance(update, cm.Natural) else gradient)
    # The softmax's rules, with the numbers of the plan.
    pi = np.exp(plan.theta0) / np.exp(plan.theta0).sum()
    advantage, e_a, entropy = reward - plan.baseline_offset, np.eye(2)[arm], -pi @ np.log(pi)
    if plan.update == "natural":
        step = advantage / pi[arm] * e_a - plan.entropy[0] * np.log(pi)
    else:
        step = advantage * (e_a - pi) - plan.entropy[0] * pi * (np.log(pi) + entropy)
    step = step * plan.step_size[0]
    assert step[0] - step[1] == pytest.approx(expected, rel=1e-12)


# -- schedules -------------------------------------------------------------------------------------


def test_schedules_become_tables() -> None:
    decay = cm.Decay(0.5, 1)
    table = decay.values(4).tolist()
    plan = lowered(
        update=cm.Natural(step_size=decay, entropy=cm.Values([4, 3, 2, 1, 0])),
        behaviour=cm.UniformMixture(decay),
        estimator=cm.OneSample(samples=2, implicit=decay),
    )
    assert plan.step_size.tolist() == table
    assert plan.entropy.tolist() == [4, 3, 2, 1]
    assert plan.exploration.tolist() == table
    assert plan.implicit.tolist() == table
    assert plan.samples == 2


def test_scheduled_steps_of_a_sigmoid_are_halved_too() -> None:
    plan = lowered(problem=TWO, policy=cm.Sigmoid(), update=cm.Vanilla(step_size=cm.Decay(1, 1)))
    assert plan.step_size.tolist() == [0.5, 0.25, 1 / 6, 0.125]


def test_without_steps_tables_have_one_entry() -> None:
    plan = lowered(
        steps=0,
        update=cm.Natural(step_size=cm.Decay(0.5, 1), entropy=cm.Values([3, 2])),
        behaviour=cm.EpsilonGreedy(cm.Decay(0.5, 1)),
    )
    assert plan.step_size.tolist() == [0.5]
    assert plan.entropy.tolist() == [3]
    assert plan.exploration.tolist() == [0.5]
    assert plan.times.tolist() == [0]


SHORT = cm.Values([0.5, 0.25])


@pytest.mark.parametrize(
    ("changes", "argument"),
    [
        ({"update": cm.Natural(step_size=SHORT)}, "update.step_size"),
        ({"update": cm.Vanilla(step_size=1, entropy=SHORT)}, "update.entropy"),
        ({"behaviour": cm.UniformMixture(SHORT)}, "behaviour.gamma"),
        ({"behaviour": cm.EpsilonGreedy(SHORT)}, "behaviour.epsilon"),
        ({"estimator": cm.OneSample(implicit=SHORT)}, "estimator.implicit"),
    ],
)
def test_short_tables_are_refused_with_both_lengths(changes: dict[str, Any], argument: str) -> None:
    with pytest.raises(CombinationError) as caught:
        lowered(**changes)
    assert str(caught.value) == (
        f"Experiment.{argument} = Values((0.5, 0.25)) is not allowed; expected at least one value "
        "per update, for steps = 4 (there are 2)"
    )
    lowered(steps=2, **changes)


def test_tables_that_do_not_fit_are_refused() -> None:
    with pytest.raises(CombinationError, match=r"^Experiment.update.step_size = Decay.*a constant"):
        lowered(steps=2**50, update=cm.Natural(step_size=cm.Decay(1, 1)))
    assert lowered(steps=2**50).step_size.tolist() == [0.1]


# -- baselines -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("baseline", "terms", "offset"),
    [
        (cm.Constant(2), (), 2.0),
        (cm.Value(), (("value", 1, 0),), 0),
        (cm.MinVariance(), (("min_variance_gradient", 1, 0),), 0),
        (cm.MinVariance("natural"), (("min_variance_natural", 1, 0),), 0),
        (cm.MinVariance("natural", lam=-2), (("min_variance_fixed_lambda", 1, -2),), 0),
        (cm.MinVariance("natural", lam=0), (("min_variance_fixed_lambda", 1, 0),), 0),
        (cm.Maximum(), (("maximum", 1, 0),), 0),
        (cm.RunningMean(), (("running_mean", 1, 0),), 0),
        (cm.RunningMean(rate=0.25), (("running_mean", 1, 0.25),), 0),
        (0.5 * cm.Value() - 1, (("value", 0.5, 0),), -1),
        (
            cm.Maximum() - 2 * cm.MinVariance() + 3,
            (("maximum", 1, 0), ("min_variance_gradient", -2, 0)),
            3,
        ),
    ],
    ids=repr,
)
def test_baselines(baseline: Baseline, terms: Any, offset: float) -> None:
    plan = lowered(baseline=baseline)
    assert plan.baseline_terms == terms
    assert plan.baseline_offset == offset
    assert all(isinstance(x, float) for _, *numbers in plan.baseline_terms for x in numbers)


def test_gaps_fold_into_the_offset() -> None:
    bandit = cm.Bandit([0.25, 2.0, 1.0])
    assert lowered(problem=bandit, baseline=cm.Gap()).baseline_offset == 1.5
    assert lowered(problem=bandit, baseline=cm.Gap(0.25)).baseline_offset == 1.25
    mixed = lowered(problem=bandit, baseline=2 * cm.Gap() - cm.Gap(0.25) + cm.Value() + 0.5)
    assert mixed.baseline_offset == 2 * 1.5 - 1.25 + 0.5
    assert mixed.baseline_terms == (("value", 1.0, 0.0),)


def test_the_running_mean_has_its_start() -> None:
    plan = lowered(baseline=2 * cm.RunningMean(initial=3) + 1)
    assert plan.running_mean_initial == 3.0
    assert plan.baseline_offset == 1.0


def test_every_baseline_is_a_term_of_the_core_or_a_number() -> None:
    r = np.array([1.0, 0.5])
    for atom in (
        cm.Constant(2.0),
        cm.Gap(),
        cm.Maximum(),
        cm.MinVariance(),
        cm.RunningMean(),
        cm.Value(),
    ):
        term = atom.core_term()
        assert (term is None) == (not atom.core_names()), atom
        assert term is None or term[0] in atom.core_names(), atom
        assert term is not None or atom.number(r) is not None, atom


# -- behaviours, estimators ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("behaviour", "name", "exploration", "probabilities"),
    [
        (cm.OnPolicy(), "on_policy", 0.0, []),
        (cm.UniformMixture(0.25), "uniform_mixture", 0.25, []),
        (cm.EpsilonGreedy(0.25), "epsilon_greedy", 0.25, []),
        (cm.Fixed([0.2, 0.3, 0.5]), "fixed", 0.0, [0.2, 0.3, 0.5]),
    ],
)
def test_behaviours(
    behaviour: Behaviour, name: str, exploration: float, probabilities: list[float]
) -> None:
    plan = lowered(behaviour=behaviour)
    assert plan.behaviour == name
    assert plan.exploration.tolist() == [exploration]
    assert plan.behaviour_probabilities.tolist() == probabilities


def test_estimators() -> None:
    plan = lowered(estimator=cm.OneSample(samples=3, implicit=0.5))
    assert (plan.estimator, plan.samples, plan.implicit.tolist()) == ("sampled", 3, [0.5])
    plan = lowered(estimator=cm.Expected())
    assert (plan.estimator, plan.samples, plan.implicit.tolist()) == ("expected", 1, [0.0])


# -- rewards ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bandit", "noise", "spread", "variance"),
    [
        (cm.Bandit([0.5, 0.25]), "deterministic", [0, 0], [0, 0]),
        (cm.Bandit([0.5, 0.25], "bernoulli"), "bernoulli", [0, 0], [0.25, 0.1875]),
        (cm.Bandit([0.5, 0.25], "gaussian", sigma=[2, 0]), "gaussian", [2, 0], [4, 0]),
        (cm.Bandit([0.5, 0.25], "uniform", half_width=3), "uniform", [3, 3], [3, 3]),
    ],
)
def test_rewards(bandit: cm.Bandit, noise: str, spread: list[float], variance: list[float]) -> None:
    plan = lowered(problem=bandit)
    assert plan.noise == noise
    assert plan.means.tolist() == [0.5, 0.25]
    assert plan.spread.tolist() == spread
    assert plan.reward_variance.tolist() == variance


def test_tables_are_flattened() -> None:
    bandit = cm.Bandit.from_table([[(1, 0.25), (0, 0.5), (2, 0.25)], [(7, 1)]])
    plan = lowered(problem=bandit)
    assert plan.noise == "table"
    assert plan.means.tolist() == [0.75, 7.0]
    assert plan.table_offsets.tolist() == [0, 3, 4]
    assert plan.table_values.tolist() == [1, 0, 2, 7]
    assert plan.table_cumulative.tolist() == [0.25, 0.75, 1, 1]
    assert plan.reward_variance.tolist() == [0.6875, 0]


def test_cumulative_probabilities_end_at_one_exactly() -> None:
    plan = lowered(problem=cm.Bandit.from_table([[(i, 0.1) for i in range(10)], [(0, 1 - 5e-10)]]))
    assert sum([0.1] * 10) != 1.0
    assert plan.table_cumulative[plan.table_offsets[1:] - 1].tolist() == [1.0, 1.0]
    assert (np.diff(plan.table_cumulative[:10]) > 0).all()


def test_impossible_values_are_left_out() -> None:
    # Otherwise the last of them would get the probability that rounding left over.
    plan = lowered(problem=cm.Bandit.from_table([[(5, 0), (1, 1 - 5e-10), (9, 0)]]))
    assert plan.table_values.tolist() == [1]
    assert plan.table_cumulative.tolist() == [1]
    assert plan.table_offsets.tolist() == [0, 1]


# -- times and names -------------------------------------------------------------------------------


def test_times() -> None:
    assert lowered(record=cm.Record(every=3)).times.tolist() == [0, 3, 4]


def test_every_part_has_a_name_of_its_own() -> None:
    for family in (Behaviour, Update):
        native = [cls for cls in kinds(family).values() if not issubclass(cls, FormulaPart)]
        names = [cls.core_name for cls in native]
        assert len(set(names)) == len(names)
    assert {"value", "maximum", "running_mean"} < set(core_names()["baselines"])
    assert core_names()["policies"] == ("direct", "softmax")  # a sigmoid is a softmax


def test_only_bandits_and_mdps_are_lowered() -> None:
    with pytest.raises(ConfigTypeError, match=r"^experiment = 3 .*an Experiment"):
        lower(3)  # type: ignore[arg-type]
