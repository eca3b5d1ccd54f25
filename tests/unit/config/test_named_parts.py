"""Parts that have a name: what they are spelled out as, and what they are refused for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import committal as cm
from committal.config import spelled_out
from committal.errors import ConfigError

BASE = cm.Experiment(cm.Bandit([1.0, 0.7, 0.0]), cm.Softmax([0, 3, 5]), cm.Vanilla(0.1), steps=5)
WALK = cm.Experiment(
    cm.gridworld("S.A", goals={"A": 1}),
    cm.Softmax(),
    cm.Vanilla(0.1),
    cm.Value(),
    estimator=cm.ExactQ(),
    steps=5,
)


def test_what_has_no_name_is_left_as_it_is() -> None:
    assert spelled_out(BASE) is BASE


def test_a_group_without_centre_and_scale_is_one_sample() -> None:
    plain = spelled_out(BASE.replace(estimator=cm.Group(samples=4, centre=None)))
    assert plain == BASE.replace(estimator=cm.OneSample(samples=4))


def test_a_number_for_all_samples_goes_out_with_the_centre() -> None:
    group = BASE.replace(estimator=cm.Group(samples=4))
    for b in (1.0, cm.Value(), cm.RunningMean(), cm.baseline("sum(pi * r)")):
        assert spelled_out(group.replace(baseline=b)) == spelled_out(group)
    per_arm = spelled_out(group.replace(baseline=2 * cm.baseline("r[a]") + 1))
    assert per_arm.baseline == cm.baseline(
        "where(max(R - 2 * r[a]) == min(R - 2 * r[a]), R, 2 * r[a] + mean(R - 2 * r[a]))"
    )


def test_a_weight_sees_the_scaled_advantage() -> None:
    weight = cm.weight("where(A > 1, 0, rho)")
    made = spelled_out(BASE.replace(estimator=cm.Group(samples=4, scale="std", weight=weight)))
    s = "where(std(R) > 0, std(R), 1)"
    assert made.estimator == cm.OneSample(4, weight=cm.weight(f"where(A / {s} > 1, 0, rho) / {s}"))


def test_shorthands_are_what_they_stand_for() -> None:
    entropy = BASE.replace(regulariser=cm.Entropy(0.2))
    assert spelled_out(entropy) == BASE.replace(update=cm.Vanilla(0.1, entropy=0.2))
    critic = BASE.replace(baseline=cm.Critic(0.1, 1.0) + 0.5)
    assert spelled_out(critic) == BASE.replace(baseline=cm.RunningMean(0.1, 1.0) + 0.5)
    for none in (cm.Entropy(0), cm.KL("uniform", 0, "k3"), cm.LogBarrier(0)):
        assert spelled_out(BASE.replace(regulariser=none)) == BASE
    link = cm.link("abs(theta)**power", power=3)
    plain = BASE.replace(update=cm.Natural(0.5))
    same = spelled_out(plain.replace(policy=cm.ScaledSoftmax([0, 3, 5])))
    assert same.policy == BASE.policy
    half = cm.update("0.5 * mean(A * rho * natural, over='samples')")
    assert same.update == half(1)
    assert spelled_out(BASE.replace(policy=cm.Escort([1, 2, 3], 3))) == BASE.replace(
        policy=link([1, 2, 3])
    )


def test_the_expectation_of_the_plain_rule_is_native() -> None:
    expected = BASE.replace(estimator=cm.Expected(), baseline=cm.Value())
    assert spelled_out(expected) is expected


def test_an_experiment_without_a_regulariser_has_the_text_that_it_had() -> None:
    assert "regulariser" not in BASE.to_dict()
    assert "regulariser" not in str(BASE)
    with_one = BASE.replace(regulariser=cm.KL("start", 0.1))
    assert with_one.hash != BASE.hash
    assert "regulariser  KL('start', 0.1)" in str(with_one)


def test_grids_reach_every_number() -> None:
    exp = BASE.replace(
        estimator=cm.Group(samples=4, scale="std", weight=cm.Clip(0.2, 0.3)),
        regulariser=cm.KL("start", 0.1),
        baseline=cm.Critic(0.1),
    )
    paths: dict[str, list[Any]] = {
        "estimator.samples": [2, 8],
        "estimator.centre": ["mean", "leave_one_out", None],
        "estimator.eps": [0.0, 1e-6],
        "estimator.weight.high": [0.2, 0.28],
        "regulariser.strength": [0.0, 0.1],
        "regulariser.form": ["k1", "k3"],
        "baseline.initial": [0.0, 1.0],
    }
    for path, values in paths.items():
        study = cm.Study(exp, {path: values}, runs=2, rng=0)
        assert len(study.run(progress=False)["value"].values) == len(values), path


def experiment(**changes: Any) -> cm.Experiment:
    return BASE.replace(**changes)


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "one sample": (lambda: cm.Group(samples=1), "one sample has no others; use centre=None"),
    "one sample, no spread": (
        lambda: cm.Group(samples=1, centre=None, scale="std"),
        "one sample has no spread",
    ),
    "centre": (lambda: cm.Group(centre="mode"), "'mean', 'leave_one_out', 'median'"),
    "scale": (lambda: cm.Group(scale="mad"), "'std'"),
    "ddof": (lambda: cm.Group(ddof=2), r"Group.ddof = 2 .* in \[0, 1\]"),
    "eps": (lambda: cm.Group(eps=-1), "Group.eps"),
    "weight": (lambda: cm.Group(weight=1.0), "Group.weight = 1.0"),  # type: ignore[arg-type]
    "epochs": (lambda: cm.Group(epochs=0), "Group.epochs"),
    "truncate": (lambda: cm.Truncate(2, 1), r"Truncate.high = 1 .* >= low, which is 2"),
    "clip": (lambda: cm.Clip(1.5), "Clip.low"),
    "temperature": (lambda: cm.Delightful(0), "Delightful.temperature"),
    "zeros": (lambda: cm.KL([1.0, 0.0], 0.1), r"KL.reference = .*0\.0.*mix it with the uniform"),
    "reference": (lambda: cm.KL("end", 0.1), "'start', 'uniform'"),
    "form": (lambda: cm.KL("start", 0.1, form="k4"), "'exact', 'k1', 'k2', 'k3'"),
    "strength": (lambda: cm.LogBarrier(-0.1), "LogBarrier.strength"),
    "power": (lambda: cm.Escort(power=0.5), "Escort.power"),
    "rate": (lambda: cm.Critic(0), "Critic.rate"),
    "arms": (lambda: experiment(regulariser=cm.KL([0.5, 0.5], 0.1)), "3 numbers, one per arm"),
    "many arms": (
        lambda: experiment(
            problem=cm.Bandit([1.0, *[0.0] * 100]),
            policy=cm.Softmax([1.0, *[0.0] * 100]),
            regulariser=cm.KL("start", 0.1),
        ),
        "'uniform', or at most 100 arms",
    ),
    "no regulariser": (lambda: experiment(regulariser=0.1), "an instance of .*KL"),
    "formula": (
        lambda: experiment(update=cm.update("A * score")(0.1), regulariser=cm.KL("start", 0.1)),
        "its term can be written there",
    ),
    "both": (
        lambda: experiment(update=cm.Vanilla(0.1, entropy=0.1), regulariser=cm.LogBarrier(0.1)),
        "update.entropy = 0.1",
    ),
    "direct": (
        lambda: experiment(policy=cm.Direct(), regulariser=cm.LogBarrier(0.1)),
        "None with a Direct policy; use Softmax",
    ),
    "direct group": (
        lambda: experiment(policy=cm.Direct(), estimator=cm.Group(scale="std")),
        "None with a Direct policy; use Softmax",
    ),
    "adam": (
        lambda: experiment(policy=cm.Direct(), optimiser=cm.Adam()),
        "Plain with a Direct policy",
    ),
    "sigmoid": (
        lambda: experiment(
            problem=cm.Bandit([1, 0]), policy=cm.Sigmoid(), regulariser=cm.KL("start", 0.1)
        ),
        r"Softmax\(\[theta, 0\]\)",
    ),
    "escort": (
        lambda: experiment(policy=cm.Escort(), regulariser=cm.Entropy(cm.Decay(1, 0.5))),
        "a number with a link",
    ),
    "escort zeros": (lambda: experiment(policy=cm.Escort([0, 0, 0])), "some are positive"),
    "escort natural": (
        lambda: experiment(policy=cm.Escort(), update=cm.Natural(0.1)),
        "update = Natural",
    ),
    "snapshots of Q in mazes": (
        lambda: WALK.replace(behaviour=cm.Snapshot(2)),
        r"a Snapshot is for Group and Reinforce\(weight=...\)",
    ),
    "snapshots of products in mazes": (
        lambda: WALK.replace(estimator=cm.Reinforce(), baseline=0, behaviour=cm.Snapshot(2)),
        "weights are those of single actions",
    ),
    "snapshots with a regulariser in mazes": (
        lambda: WALK.replace(
            estimator=cm.Group(),
            baseline=0,
            behaviour=cm.Snapshot(2),
            regulariser=cm.Entropy(0.1),
        ),
        "OnPolicy with a regulariser and an MDP",
    ),
    "snapshots of which mu is recorded in mazes": (
        lambda: WALK.replace(
            estimator=cm.Group(),
            baseline=0,
            behaviour=cm.Snapshot(2),
            record=cm.Record(cm.quantity("sum(mu * pi)", name="x")),
        ),
        "a formula without mu with a Snapshot",
    ),
    "epochs with schedules in mazes": (
        lambda: WALK.replace(
            estimator=cm.Group(epochs=2), baseline=0, update=cm.Vanilla(cm.Decay(1, 0.5))
        ),
        "a constant with more than one epoch",
    ),
    "groups off the policy in mazes": (
        lambda: WALK.replace(estimator=cm.Group(), behaviour=cm.UniformMixture(0.1)),
        "OnPolicy or Snapshot with a Group and an MDP; use Reinforce",
    ),
    "groups with a critic in mazes": (
        lambda: WALK.replace(estimator=cm.Group(), baseline=cm.Critic(0.1)),
        r"use Group\(centre=None\)",
    ),
    "groups with Q in mazes": (
        lambda: WALK.replace(estimator=cm.Group(), baseline=cm.Value()),
        "the others are for ExactQ",
    ),
    "groups of many in mazes": (
        lambda: WALK.replace(estimator=cm.Group(samples=2**31 - 1), steps=2**40, baseline=0),
        "samples are 2147483647",
    ),
    "starts of bandits": (
        lambda: experiment(estimator=cm.Group(starts="each")),
        r"contexts\(\) makes an MDP",
    ),
    "unequal starts": (
        lambda: WALK.replace(
            estimator=cm.Group(starts="each"),
            problem=cm.TabularMDP(
                [(s, a, 2, 1.0, 0.0) for s in range(2) for a in range(2)],
                start=[0.3, 0.7, 0],
                terminal=[2],
            ),
        ),
        "not equally probable",
    ),
    "contexts of two kinds": (
        lambda: cm.contexts([cm.Bandit([1, 0]), cm.Bandit([1, 0, 0])]),
        r"bandits\[1\].*2 arms",
    ),
    "contexts of numbers": (
        lambda: cm.contexts([cm.Bandit([1, 0], "gaussian", sigma=1)]),
        "finitely many values",
    ),
    "two critics in mazes": (
        lambda: WALK.replace(baseline=cm.Critic(0.1) - cm.Critic(0.2)),
        "one term with a state",
    ),
    "a critic of nothing": (
        lambda: WALK.replace(baseline=cm.Critic(0.1), estimator=cm.Expected()),
        "depends on theta only",
    ),
    "a critic that looks at Q": (
        lambda: WALK.replace(
            baseline=cm.baseline("v + max(r)", state={"v": (0.0, "v + mean(R)")}),
        ),
        "a term of its own",
    ),
    "means in mazes": (
        lambda: WALK.replace(baseline=cm.RunningMean(), estimator=cm.ExactQ()),
        "use Critic, Value",
    ),
    "off policy in mazes": (
        lambda: WALK.replace(regulariser=cm.Entropy(0.1), behaviour=cm.UniformMixture(0.1)),
        "OnPolicy with a regulariser",
    ),
    "expected in mazes": (
        lambda: WALK.replace(estimator=cm.Expected(weight=cm.Tapered())),
        "None with an MDP",
    ),
    "expected gaussian": (
        lambda: experiment(
            problem=cm.Bandit([1, 0, 0], "gaussian", sigma=1),
            estimator=cm.Expected(weight=cm.Delightful()),
        ),
        "no finite sum",
    ),
    "expected draws": (
        lambda: experiment(
            estimator=cm.Expected(weight=cm.Delightful()), record=cm.Record("action")
        ),
        "Expected draws nothing",
    ),
    "expected critic": (
        lambda: experiment(estimator=cm.Expected(weight=cm.Delightful()), baseline=cm.Critic(0.1)),
        "depends on theta only",
    ),
    "scaled vanilla": (
        lambda: experiment(policy=cm.Tsallis()),
        r"Natural or cm.update\(...\) with a Tsallis policy",
    ),
    "scaled start": (
        lambda: experiment(policy=cm.ScaledSoftmax([0, 1]), update=cm.Natural(1)),
        "3 numbers, one per arm",
    ),
    "scaled table": (
        lambda: experiment(policy=cm.Tsallis(scale=cm.Values([1] * 9)), update=cm.Natural(1)),
        "policy.scale = .* a number or Decay",
    ),
    "scaled table of steps": (
        lambda: experiment(policy=cm.Tsallis(), update=cm.Natural(cm.Values([1] * 9))),
        "update.step_size = .* a number or Decay",
    ),
    "scaled Adam": (
        lambda: experiment(policy=cm.Tsallis(), update=cm.Natural(1), optimiser=cm.Adam()),
        "Plain with a Tsallis policy",
    ),
    "scaled epochs": (
        lambda: experiment(
            policy=cm.Tsallis(), update=cm.Natural(1), estimator=cm.OneSample(epochs=2)
        ),
        "1 with a Tsallis policy",
    ),
    "scaled entropy": (
        lambda: experiment(policy=cm.Tsallis(), update=cm.Natural(1, entropy=0.1)),
        "regularised by its scale",
    ),
    "scaled regulariser": (
        lambda: experiment(
            policy=cm.Tsallis(), update=cm.Natural(1), regulariser=cm.LogBarrier(0.1)
        ),
        "regularised by its scale",
    ),
    "scaled theta": (
        lambda: experiment(
            policy=cm.Tsallis(), update=cm.Natural(1), record=cm.Record("theta", every=1)
        ),
        "names without 'theta'",
    ),
    "scaled formula of theta": (
        lambda: experiment(
            policy=cm.Tsallis(), update=cm.Natural(1), baseline=cm.baseline("max(theta)")
        ),
        "a formula without theta",
    ),
    "scaled score": (
        lambda: experiment(policy=cm.Tsallis(), update=cm.update("A * score")(0.1)),
        "a formula without score",
    ),
    "scaled in mazes": (
        lambda: WALK.replace(policy=cm.Tsallis(), update=cm.Natural(1)),
        "Tsallis is for bandits",
    ),
    "variance": (
        lambda: experiment(estimator=cm.Group(samples=2), record=cm.Record("variance")),
        "names without 'variance'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str) -> None:
    call, words = REFUSED[case]
    with pytest.raises(ConfigError, match=words):
        call()


def test_a_refusal_shows_what_was_given() -> None:
    with pytest.raises(ConfigError) as caught:
        experiment(estimator=cm.Group(samples=2), record=cm.Record("variance"))
    assert caught.value.argument == "Experiment.record.names"
    with pytest.raises(ConfigError) as caught:
        experiment(estimator=cm.Group(samples=2**31 - 1), steps=2**40)
    assert caught.value.argument == "Experiment.steps"
