"""Formulas as parts: what they say of themselves, how they go together, and what is refused."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import committal as cm
from committal.config.grid import Grid
from committal.errors import CombinationError, ConfigError, ConfigTypeError, FormulaError

R = np.array([1.0, 0.7, 0.0])


@cm.baseline
def collision(pi: Any, r: Any) -> Any:
    w = pi**2
    return (w * r).sum() / w.sum()


@cm.weight
def tapered(A: Any, rho: Any, *, top: float = 1.0) -> Any:
    return cm.where(A > 0, 1, cm.minimum(rho, top))


@cm.quantity
def kl_to_uniform(pi: Any, K: Any) -> Any:
    return (pi * cm.log(pi * K)).sum()


BASE = cm.Experiment(
    cm.Bandit([1, 0.7, 0]), cm.Softmax([0, 3, 5]), cm.Natural(0.025), collision - 0.5, steps=10
)


def experiment(**changes: Any) -> cm.Experiment:
    return BASE.replace(**changes)


# -- what they say ---------------------------------------------------------------------------------


def test_text_and_function_are_one_object() -> None:
    text = cm.baseline("sum(pi**2 * r) / sum(pi**2)")
    assert text == collision
    assert text.hash == collision.hash
    assert hash(text) == hash(collision)
    assert repr(collision) == "baseline('sum(pi**2 * r) / sum(pi**2)')"
    assert collision._repr_latex_().startswith(r"$\frac{\sum_{k}")
    assert collision != cm.baseline("sum(pi**2 * r)")


def test_names_and_sources_do_not_matter() -> None:
    one = cm.baseline(lambda pi, r: (pi * r).sum())
    other = cm.baseline(lambda r, pi: cm.dot(r, pi))
    assert one == other == cm.baseline("r @ pi")


def test_parameters_show_everywhere() -> None:
    two = tapered(top=2)
    assert repr(two) == "weight('where(A > 0, 1, minimum(rho, top))', top=2.0)"
    assert two != tapered
    assert two.hash != tapered.hash
    assert two(top=1) == tapered
    assert two.to_dict()["parameters"] == {"top": 2.0}
    with pytest.raises(ConfigError, match=r"weight\.tp = 2 .*did you mean 'top'"):
        tapered(tp=2)
    with pytest.raises(ConfigTypeError, match=r"weight\.top"):
        tapered(top="2")


def test_values_on_arrays_of_policies() -> None:
    pi = np.random.default_rng(0).dirichlet(np.ones(3), size=(4, 5))
    want = (pi**2 * R).sum(-1) / (pi**2).sum(-1)
    np.testing.assert_allclose(collision.at(pi, R), want, rtol=1e-14)
    np.testing.assert_allclose((2 * collision - 1).at(pi, R), 2 * want - 1, rtol=1e-14)
    assert (collision + cm.Value()).at(pi, R).shape == (4, 5)
    assert cm.baseline("max(r) - 1").number(R) == 0.0
    assert collision.number(R) is None
    assert collision.range(R) == (0.0, 1.0)
    assert (collision - 0.5).range(R) == (-0.5, 0.5)
    assert cm.baseline("sum(pi * r) + 2").range(R) == (2.0, 3.0)
    assert cm.baseline("exp(sum(theta))").range(R)[1] == np.inf
    # A probability that underflows does no harm.
    corner = np.array([1.0, 0.0, 0.0])
    assert float(cm.baseline("sum(pi * log(pi))").at(corner, R)) == pytest.approx(0.0)
    np.testing.assert_allclose(collision.at_vertex(1, np.array([[0.5, 0.0, 0.5]]), R), [0.7])


def test_what_is_not_finite_is_an_error_with_its_operands() -> None:
    with pytest.raises(FormulaError, match=r"1 / \(max\(r\) - 1\).*'max\(r\) - 1': 0\.0"):
        cm.baseline("sum(pi * r) + 1 / (max(r) - 1)").at(np.full(3, 1 / 3), R)


def test_baselines_know_what_they_depend_on() -> None:
    assert collision.depends_on_theta_only
    assert collision.needs_values
    for text in ("mean(R)", "t", "sum(mu * r)", "sum(theta)"):
        assert not cm.baseline(text).depends_on_theta_only
    assert not cm.baseline("0.5 * t").needs_values
    assert "batch" in cm.baseline("mean(R)").not_in_mdps
    assert not cm.baseline("v", state={"v": (0.0, "v + mean(R)")}).not_in_mdps
    assert not collision.not_in_mdps


def test_states() -> None:
    @cm.baseline(state={"v": "start"})
    def critic(R: Any, v: Any, *, rate: float = 0.1, start: float = 0.0) -> Any:
        return v, {"v": v + rate * (R.mean() - v)}

    assert critic.tree.initial("v") == 0.0
    assert critic(start=1).tree.initial("v") == 1.0
    assert pickle.loads(pickle.dumps(critic)) == critic
    text = cm.baseline("v", state={"v": ("start", "v + rate * (R.mean() - v)")}, rate=0.1, start=0)
    assert text == critic
    assert "state" in critic.to_dict()


def test_named_optimisers_are_formulas() -> None:
    for part, text in (
        (cm.Momentum(0.5), "g + beta * m"),
        (cm.ClipNorm(5), "g * (limit / maximum(sqrt(sum(g**2)), limit))"),
        (cm.Normalised(), "g / where(sqrt(sum(g**2)) > 0, sqrt(sum(g**2)), 1)"),
    ):
        assert part.tree is not None
        assert part.tree.text == text
    assert dict(cm.Adam(beta1=0.5).tree.parameters) == {"beta1": 0.5, "beta2": 0.999, "eps": 1e-8}
    assert cm.Plain().tree is None


def test_links_have_their_slope() -> None:
    escort = cm.link("abs(theta)**p", p=4)([-1, 2, 3])
    theta = np.array([-1.0, 2.0, 3.0])
    np.testing.assert_allclose(escort.weights_at(theta), [1, 16, 81])
    np.testing.assert_allclose(escort.slopes_at(theta), [-4, 32, 108])
    np.testing.assert_allclose(escort.probabilities_at(theta).sum(), 1.0)


# -- how they go together --------------------------------------------------------------------------


def test_experiments_with_formulas_have_all_forms() -> None:
    exp = experiment(
        estimator=cm.OneSample(samples=4, weight=tapered(top=2)),
        optimiser=cm.Adam(),
        record=cm.Record("value", kl_to_uniform, every=10),
    )
    assert cm.Experiment.from_toml(exp.to_toml()) == exp
    assert cm.Experiment.from_json(exp.to_json()) == exp
    assert exp.record.names == ("value", "kl_to_uniform")
    assert "optimiser  Adam()" in str(exp)


def test_files_may_leave_out_the_kind() -> None:
    text = """
    steps = 10
    problem = {kind = "bandit", means = [1, 0]}
    policy = {formula = "abs(theta)**p", theta0 = [1, 2], parameters = {p = 2}}
    update = {formula = "A * rho * score", step_size = 0.1}
    baseline = {formula = "sum(pi**2 * r) / sum(pi**2) - 0.5"}
    optimiser = {formula = "sign(g)"}
    record = {names = ["value", {formula = "max(pi)", name = "largest"}]}
    """
    exp = cm.Experiment.from_toml(text)
    assert exp.baseline == cm.baseline("sum(pi**2 * r) / sum(pi**2) - 0.5")
    assert exp.policy == cm.link("abs(theta)**p", p=2)([1, 2])
    assert exp.record.formulas[0].name == "largest"
    with pytest.raises(FormulaError, match=r"^baseline\.formula = 'sun\(pi\)'"):
        cm.Experiment.from_toml(text.replace("sum(pi**2 * r) / sum(pi**2) - 0.5", "sun(pi)"))
    with pytest.raises(ConfigError, match=r"^record\.names\[1\]\.name = None .* required"):
        cm.Experiment.from_toml(text.replace(', name = "largest"', ""))
    weight = 'estimator = {kind = "one_sample", weight = {formula = "minimum(rho, 1)"}}'
    with pytest.raises(CombinationError, match="None with an update that is a formula"):
        cm.Experiment.from_toml(text + weight)
    plain = text.replace('formula = "A * rho * score"', 'kind = "vanilla"')
    made = cm.Experiment.from_toml(plain + weight)
    assert made.estimator == cm.OneSample(weight=cm.weight("minimum(rho, 1)"))


def test_grids_reach_parameters() -> None:
    base = experiment(
        baseline=cm.baseline("c * sum(pi * r)", c=1) - 0.5,
        estimator=cm.OneSample(weight=tapered),
    )
    grid = Grid(base, {"baseline.c": [0.5, 1, 2], "estimator.weight.top": [1, 2]})
    assert grid.shape == (3, 2)
    assert grid.experiments[5].baseline == cm.baseline("c * sum(pi * r)", c=2) - 0.5
    assert grid.experiments[5].estimator == cm.OneSample(weight=tapered(top=2))
    assert Grid.from_dict(json.loads(json.dumps(grid.to_dict()))).hash == grid.hash
    kinds = Grid(base, {"baseline": [{"formula": "max(r)"}, cm.Value(), collision]})
    assert kinds.axes[0].labels == ("max(r)", "Value()", "baseline('sum(pi**2 * r) / sum(pi**2)')")
    assert kinds.experiments[0].baseline == cm.baseline("max(r)")


def test_old_hashes_stay() -> None:
    plain = cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), steps=9)
    assert "optimiser" not in plain.to_json()
    assert "weight" not in plain.to_json()
    assert plain.replace(optimiser=cm.Adam()).hash != plain.hash


def test_processes_that_never_saw_the_function() -> None:
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer).hash)"
    exp = experiment(
        estimator=cm.OneSample(weight=tapered), record=cm.Record("value", kl_to_uniform)
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps(exp), capture_output=True, check=True
    )
    assert done.stdout.decode().strip() == exp.hash


# -- refusals --------------------------------------------------------------------------------------

MAZE = cm.gridworld("SA", goals={"A": 1})
WALK = cm.Experiment(MAZE, cm.Softmax(), cm.Natural(0.1), estimator=cm.ExactQ(), steps=2)
LINK = cm.link("abs(theta)")

REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "vector": (lambda: cm.baseline("pi * r"), r"add \.sum\(\)"),
    "matrix": (lambda: cm.update("score.sum(over='arms')"), "multiply it with score"),
    "number": (lambda: cm.optimiser("sum(g)"), "a vector over arms"),
    "truth": (lambda: cm.weight("where(rho, 1, 2)"), "comparison"),
    "input": (lambda: cm.baseline("g.sum()"), "'pi'"),
    "unused": (lambda: cm.baseline("sum(pi)", top=1), "a formula that uses top"),
    "state": (lambda: cm.weight(lambda rho: rho, stat={"v": 0}), "no parameters"),
    "mixing": (lambda: cm.link("theta / sum(theta)"), "by itself"),
    "nothing": (lambda: cm.baseline(3), "a function or a text"),
    "class": (lambda: cm.baseline(cm.Value()), "a function or a text"),
    "name": (lambda: cm.quantity("max(pi)"), "name="),
    "taken": (lambda: cm.quantity("max(pi)", name="value"), "of its own"),
    "dimension": (lambda: cm.quantity("max(pi)", name="run"), "of its own"),
    "lambda": (lambda: cm.quantity(lambda pi: pi.max()), "name="),
    "rule": (lambda: experiment(update=cm.update("A * score")), r"step_size=0\.1"),
    "weight": (lambda: cm.OneSample(weight=lambda rho: rho), "a weight"),
    "implicit": (lambda: cm.OneSample(implicit=0.1, weight=tapered), "0 with a weight"),
    "twice": (lambda: cm.Record(kl_to_uniform, kl_to_uniform), "different names"),
    "arm": (lambda: experiment(baseline=cm.baseline("r[3]")), "from 0 to 2"),
    "half": (lambda: cm.baseline("r[0.5]"), "a whole number of an arm"),
    "others": (lambda: experiment(baseline=cm.baseline("others(R, 'mean')")), "one has no others"),
    "zeros": (lambda: experiment(policy=LINK, update=cm.Vanilla(1)), "some are positive"),
    "natural": (lambda: experiment(policy=LINK([1, 2, 3])), r"Vanilla or cm\.update"),
    "length": (lambda: experiment(policy=LINK([1, 2]), update=cm.Vanilla(1)), "one per arm"),
    "link": (
        lambda: experiment(policy=LINK([1, 2, 3]), update=cm.update("natural * A")(0.1)),
        "without `natural`",
    ),
    "entropy": (
        lambda: experiment(policy=LINK([1, 2, 3]), update=cm.Vanilla(1, entropy=1)),
        "0 with a link",
    ),
    "direct": (
        lambda: experiment(policy=cm.Direct(), update=cm.Vanilla(1), optimiser=cm.Adam()),
        "Plain with a Direct",
    ),
    "sigmoid": (
        lambda: experiment(
            problem=cm.Bandit([1, 0]), policy=cm.Sigmoid(), baseline=0, optimiser=cm.Adam()
        ),
        r"Softmax\(\[theta, 0\]\)",
    ),
    "expected": (
        lambda: experiment(
            update=cm.update("others(score, 'mean', over='samples')")(0.1), estimator=cm.Expected()
        ),
        "no product of a number per sample and a direction",
    ),
    "nothing drawn": (
        lambda: experiment(baseline=cm.baseline("mean(R)"), estimator=cm.Expected()),
        "theta only",
    ),
    "drawn": (
        lambda: experiment(
            estimator=cm.Expected(), record=cm.Record(cm.quantity("mean(R)", name="mean_reward"))
        ),
        "'mean_reward'",
    ),
    "maze": (
        lambda: WALK.replace(record=cm.Record("value", cm.quantity("sum(R)", name="paid"))),
        "R is of a visit",
    ),
    "batch": (lambda: WALK.replace(baseline=cm.baseline("mean(R)")), "for bandits"),
    "maze link": (lambda: WALK.replace(policy=LINK), "Vanilla or cm.update"),
    "reinforce": (
        lambda: WALK.replace(baseline=collision, estimator=cm.Reinforce()),
        "no Q",
    ),
    "reinforce weight": (
        lambda: WALK.replace(estimator=cm.Reinforce(weight=cm.weight("rho * max(r)"))),
        "no Q",
    ),
    "histogram": (
        lambda: experiment(record=cm.Record(kl_to_uniform, reduce=cm.Reduce(bins=3))),
        "range={'kl_to_uniform'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str) -> None:
    call, words = REFUSED[case]
    with pytest.raises(ConfigError, match=words):
        call()


def test_exact_answers_refuse_by_name() -> None:
    with pytest.raises(CombinationError, match="theta only"):
        cm.exact.committal_probability(experiment(baseline=cm.baseline("mean(R)")))
