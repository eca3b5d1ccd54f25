"""Study files: what they may say, and errors that name the file, the line and the key."""

from __future__ import annotations

from pathlib import Path

import pytest

import committal as cm
from committal.study.file import line_of, parse_study

ConfigError = cm.errors.ConfigError

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.toml"))

TEXT = """\
# A comment.
runs = 1_000
rng = 7

[experiment]
steps = 100
problem = {kind = "bandit", means = [1.0, 0.7, 0.0]}
policy = {kind = "softmax", theta0 = [0, 3, 5]}
update = {kind = "natural", step_size = 0.025}
baseline = {kind = "linear", terms = [[1.0, {kind = "min_variance"}]], offset = 0.5}

[experiment.record]
names = ["value"]
reduce = {below = 0.9}

[grid]
"update.step_size" = {geomspace = [0.01, 1.0, 3]}
"baseline.offset" = {linspace = [-1, 1, 5]}

[grid.start]
uniform = {"policy.theta0" = [0, 0, 0]}
bad = {"policy.theta0" = [0, 3, 5]}

[until]
quantity = "failure"
half_width = 0.01
"""


def test_says_what_python_says(three_arms: cm.Experiment) -> None:
    study, until = parse_study(TEXT)
    record = cm.Record("value", reduce=cm.Reduce(below=0.9))
    base = three_arms.replace(steps=100, record=record)
    grid = {
        "update.step_size": [0.01, 0.1, 1.0],
        "baseline.offset": [-1, -0.5, 0, 0.5, 1],
        "start": {"uniform": {"policy.theta0": [0, 0, 0]}, "bad": {"policy.theta0": [0, 3, 5]}},
    }
    assert study == cm.Study(base, grid, runs=1000, rng=7)
    assert until == cm.Precision("failure", 0.01)


def with_grid(lines: str) -> str:
    head, _, _ = TEXT.partition("[grid]")
    return head + "[grid]\n" + lines


def test_forms_of_axes() -> None:
    text = with_grid(
        'baseline = [{kind = "value"}, 0.5]\n'
        "[grid.size]\n"
        '"update.step_size" = [0.1, 0.2]\n'
        "steps = {linspace = [100, 50, 2]}\n"
    )
    with pytest.raises(ConfigError, match="steps"):
        parse_study(text)  # a range makes floats, and steps are integers
    study, _ = parse_study(text.replace("{linspace = [100, 50, 2]}", "[100, 50]"))
    assert [axis.name for axis in study.axes] == ["baseline", "size"]
    assert study[3].experiment.baseline == cm.Constant(0.5)
    assert study[3].experiment.steps == 50


def test_markov_decision_processes() -> None:
    study, _ = parse_study(
        '''
runs = 2
[experiment]
steps = 3
policy = {kind = "softmax"}
update = {kind = "natural", step_size = 0.1}
estimator = {kind = "exact_q"}
[experiment.problem]
kind = "gridworld"
text = """
#####
#S.G#
#####
"""
goals = {G = 1.0}
[grid]
"update.step_size" = [0.1, 0.2]
'''
    )
    assert study.run(progress=False).sizes["step_size"] == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("runs = 1_000", "runs = 0", r"study\.toml:2: runs = 0"),
        ("runs = 1_000", "", r"study\.toml: runs = None .* required"),
        ("rng = 7", "rng = -7", r"study\.toml:3: rng = -7"),
        ("rng = 7", "seed = 7", r"study\.toml:3: seed = 7 .* one of the keys 'runs', 'rng'"),
        ("step_size = 0.025", "step_size = -1", r":9: experiment\.update\.step_size = -1"),
        ("step_size = 0.025", "step_sise = 1", r":9: experiment\.update\.step_sise.*'step_size'"),
        ('kind = "natural"', 'kind = "naturl"', r":9: experiment\.update\.kind.*'natural'"),
        ('names = ["value"]', 'names = ["valu"]', r":13: experiment\.record\.names.*'value'"),
        ("below = 0.9", "below = inf", r":14: experiment\.record\.reduce\.below"),
        ("[0.01, 1.0, 3]", "[0, 1.0, 3]", r":17: grid\.update\.step_size\.geomspace"),
        ("[0.01, 1.0, 3]", "[0.1, 1.0]", r":17: .*first, last, how many"),
        ("[-1, 1, 5]", "[-1, 1, 0]", r":18: grid\.baseline\.offset\.linspace = 0"),
        ('"baseline.offset" =', '"baseline.ofset" =', r"study\.toml:16: grid at .*'offset'"),
        (
            '"update.step_size" = {geo',
            "update.step_size = {geo",
            r":17: grid\.update\.step_size .*quotes",
        ),
        ("bad = {", "bad = 3 #", r":22: grid\.start\.bad = 3"),
        ("half_width = 0.01", "half_width = 0", r":26: until\.half_width = 0"),
        ("half_width = 0.01", "half_wide = 1", r":26: until\.half_wide"),
        ("[until]", "[until", r"study\.toml:24 = '\[until' .* valid TOML"),
        ("steps = 100", "steps = 100\nsteps = 3", r"study\.toml:7 .* valid TOML"),
        ("[experiment]", "[[experiment]]", r"study\.toml:5: experiment = .* a table"),
    ],
)
def test_errors_name_the_line_and_the_key(old: str, new: str, message: str) -> None:
    assert old in TEXT
    with pytest.raises(ConfigError, match=message):
        parse_study(TEXT.replace(old, new, 1))


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "my study.toml"
    file.write_text(TEXT, encoding="utf-8")
    assert cm.read_study(file) == parse_study(TEXT)
    file.write_text(TEXT.replace("0.025", "-1"), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"my study\.toml:9: "):
        cm.read_study(file)
    with pytest.raises(ConfigError, match="No such file"):
        cm.read_study(tmp_path / "nothing.toml")
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="UTF-8"):
        cm.read_study(file)


def test_keys_inside_of_long_strings_are_not_keys() -> None:
    text = '[experiment.problem]\ntext = """\nruns = 3\n[grid]\n"""\nruns = "x"\n'
    assert line_of("experiment.problem.runs", text) == 6
    assert line_of("experiment.problem.text", text) == 2
    assert line_of("experiment.problem.goals['G']", text) == 1
    assert line_of("grid", text) is None


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_examples(file: Path) -> None:
    study, _ = cm.read_study(file)
    assert len(study) > 1


def test_there_are_examples() -> None:
    assert any(file.name == "phase_diagram.toml" for file in EXAMPLES)
