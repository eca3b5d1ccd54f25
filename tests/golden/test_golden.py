"""Every bit of the golden cases, on every instruction set of the machine.

The answers were written once, by `make.py`. They may change only together with what is simulated;
a refactoring leaves them alone.
"""

from __future__ import annotations

import functools
import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import committal as cm
from committal import _core
from committal.config.rules.formulas import formulas_of
from committal.formula.vocabulary import ROWS

HERE = Path(__file__).parent
ISAS: list[str] = _core.available()["isas"]  # slowest first
BEST = ISAS[-1]


sys.path.insert(0, str(HERE))  # its files are not a package
import cases  # noqa: E402

ANSWERS: dict[str, dict[str, Any]] = json.loads((HERE / "answers.json").read_text("utf-8"))

REMAKE = "if that is meant: python tests/golden/make.py --write"


#: All cases on all sets; those that cannot choose take the best one.
CHOICES = [
    pytest.param(name, isa, id=f"{isa}-{name}")
    for isa in ISAS
    for name, case in cases.CASES.items()
    if case.chooses_isa or isa == BEST
]


@pytest.mark.parametrize(("name", "isa"), CHOICES)
def test_bits(name: str, isa: str) -> None:
    case = cases.CASES[name]
    assert name in ANSWERS["bits"], f"no answer for {name!r}: python tests/golden/make.py --write"
    threads = 2 if isa == BEST else 1
    if cases.digest(case.compute(isa, threads)) != ANSWERS["bits"][name]:
        pytest.fail(
            f"{name!r} gives other bits with isa={isa!r}, threads={threads}; look at it here and "
            f"where it passes: python tests/golden/make.py --show '{name}' --isa {isa} "
            f"--threads {threads}; {REMAKE}"
        )


FORMULAS: dict[str, dict[str, Any]] = json.loads((HERE / "formulas.json").read_text("utf-8"))


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("name", cases.FORMULAS)
def test_bits_of_formulas(name: str, isa: str) -> None:
    threads = 2 if isa == BEST else 1
    got = cases.digest(cases.FORMULAS[name].compute(isa, threads))
    remake = "if that is meant: python tests/golden/make.py --only formulas --write"
    assert got == FORMULAS["bits"].get(name), f"{name!r} gives other bits with {isa}; {remake}"


def test_formulas_and_their_answers() -> None:
    assert set(FORMULAS["bits"]) == set(cases.FORMULAS)
    assert FORMULAS["experiments"] == cases.experiment_hashes(cases.FORMULAS)
    # Every operation of the vocabulary occurs in some case.
    used = {
        node.op
        for case in cases.FORMULAS.values()
        for _, _, formula in formulas_of(case.experiment)
        for node in formula.nodes()
    }
    assert set(ROWS) <= used


@pytest.mark.parametrize("name", cases.NUMBERS)
def test_numbers(name: str) -> None:
    assert name in ANSWERS["numbers"], f"no answer for {name!r}: {REMAKE}"
    found = cases.numbers_of(cases.NUMBERS[name])
    expected = ANSWERS["numbers"][name]
    assert cases.close(found, expected, cases.NUMBERS[name].tolerance), (
        f"{name!r} is {found}, not {expected}; {REMAKE}"
    )


def test_hashes_of_experiments() -> None:
    """Stores find their results by them, and independent streams are made of them."""
    found = cases.experiment_hashes()
    expected = ANSWERS["experiments"]
    changed = [name for name in found if found[name] != expected.get(name)]
    assert not changed, f"{len(changed)} experiments have other hashes: {changed[:5]}; {REMAKE}"


def test_no_answer_is_orphaned() -> None:
    assert set(ANSWERS) == {"bits", "experiments", "numbers"}
    for section, names in (
        ("bits", set(cases.CASES)),
        ("experiments", set(cases.experiment_hashes())),
        ("numbers", set(cases.NUMBERS)),
    ):
        orphans = sorted(set(ANSWERS[section]) - names)
        assert not orphans, f"answers without a case in {section!r}: {orphans}; {REMAKE}"


# -- whether the cases are all that they claim to be -----------------------------------------------


def experiments() -> Iterator[cm.Experiment]:
    for case in cases.CASES.values():
        if isinstance(case, cases.Run):
            yield case.experiment


def parts_of(described: Any) -> Iterator[str]:
    """The kinds of all parts of an experiment, at any depth of its plain form."""
    if isinstance(described, dict):
        if "kind" in described:
            yield described["kind"]
        for value in described.values():
            yield from parts_of(value)
    elif isinstance(described, list | tuple):
        for value in described:
            yield from parts_of(value)


@functools.cache
def used_parts() -> set[str]:
    formulas = [case.experiment for case in cases.FORMULAS.values()]
    both = (*experiments(), *formulas)
    return {kind for experiment in both for kind in parts_of(experiment.to_dict())}


def test_there_are_enough_cases() -> None:
    assert len(cases.CASES) >= 200


# One public class of every family of parts; the family is what it inherits from.
@pytest.mark.parametrize(
    "member", [cm.Value, cm.OnPolicy, cm.Natural, cm.OneSample, cm.Softmax, cm.Decay, cm.Bandit]
)
def test_every_public_part_occurs(member: type) -> None:
    family = member.__mro__[1]
    public = {
        name.lower()
        for name, thing in inspect.getmembers(cm, inspect.isclass)
        if issubclass(thing, family)
    }
    assert len(public) >= 2
    assert public <= {kind.replace("_", "") for kind in used_parts()}
    assert "linear" in used_parts()  # what sums of baselines are


@pytest.mark.parametrize(
    ("problem", "names"), [(cm.Bandit, cm.RECORDABLE), (cm.TabularMDP, cm.MDP_RECORDABLE)]
)
def test_every_quantity_is_recorded(problem: type, names: tuple[str, ...]) -> None:
    records = [e.record for e in experiments() if isinstance(e.problem, problem)]
    kept = {name for record in records if record.reduce is None for name in record.names}
    reduced = {name for record in records if record.reduce is not None for name in record.names}
    alone = {record.names[0] for record in records if len(record.names) == 1}
    assert kept == alone == set(names)
    assert reduced == set(names) - {"action"}  # which has no mean


def test_every_option_is_used() -> None:
    all_of = list(experiments())
    bandits = [e.problem for e in all_of if isinstance(e.problem, cm.Bandit)]
    assert {b.noise for b in bandits} == {None, "bernoulli", "gaussian", "uniform", "table"}
    assert {b.arms for b in bandits} >= {1, 2, 3, 4, 5, 10, 64, 65, 70, 128, 129, 150, 300}
    exact = [e.estimator for e in all_of if isinstance(e.estimator, cm.ExactQ)]
    assert {(q.solver, q.discounted) for q in exact} == {
        (solver, discounted) for solver in ("direct", "iterative") for discounted in (False, True)
    }
    drawn = [e.estimator for e in all_of if isinstance(e.estimator, cm.OneSample)]
    assert {(one.samples > 1, one.implicit != 0.0) for one in drawn} == {
        (several, implicit) for several in (False, True) for implicit in (False, True)
    }
    records = [e.record for e in all_of]
    for option in ("every", "at", "log", "reduce"):
        assert any(getattr(record, option) is not None for record in records), option
    reductions = [record.reduce for record in records if record.reduce is not None]
    for option in ("below", "quantiles", "bins", "range"):
        assert any(getattr(reduce, option) for reduce in reductions), option
    options = [set(case.options) for case in cases.CASES.values() if isinstance(case, cases.Run)]
    for option in ("rng", "first_run", "chunk", "independent"):
        assert any(option in given for given in options), option
