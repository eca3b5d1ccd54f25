"""Reading configurations: the error names the path to what is wrong."""

from __future__ import annotations

from typing import Any

import pytest

import committal as cm
from committal.config import Config, Linear
from committal.errors import ConfigError, ConfigTypeError


def changed(experiment: cm.Experiment, path: str, value: Any) -> dict[str, Any]:
    data = experiment.to_dict()
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
        (
            "policy.kind",
            "sofmax",
            r"^policy.kind = 'sofmax' .* 'direct', .*; did you mean 'softmax'\?",
        ),
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
def test_from_dict_names_the_path(
    three_arms: cm.Experiment, path: str, value: Any, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        cm.Experiment.from_dict(changed(three_arms, path, value))


def test_from_dict_names_missing_keys(three_arms: cm.Experiment) -> None:
    data = three_arms.to_dict()
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


def test_kind_may_be_left_out_where_there_is_only_one(three_arms: cm.Experiment) -> None:
    data = three_arms.to_dict()
    del data["kind"], data["record"]["kind"]
    assert cm.Experiment.from_dict(data) == three_arms


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
