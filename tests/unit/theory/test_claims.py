"""The table of claims: it holds, prints, and fails where the physics is broken."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import committal as cm
from committal import theory
from committal.cli.app import app
from committal.exact import dynamics, law
from committal.exact.committal import _solve
from committal.theory.checks import convergence

Break = Callable[[pytest.MonkeyPatch], None]


@pytest.fixture(autouse=True)
def fresh_maps() -> Iterator[None]:
    """Solutions are kept between calls: those of broken physics must not be."""
    _solve.cache_clear()
    yield
    _solve.cache_clear()


def test_every_claim_holds() -> None:
    table = theory.claims()
    assert [row.id for row in table] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 11]
    assert table.verdict, str(table)
    assert sum(row.seconds for row in table) < 60.0
    text = str(table)
    assert "FAILS" not in text
    assert "10 of 10 claims hold" in text
    for row in table:
        assert row.values
        assert row.statement
        assert row.tolerance


def unweighted_natural(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(dynamics, "importance_weights", lambda mu, implicit: np.ones_like(mu))


def wrong_metric(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cm.MinVariance, "weights", lambda self, pi: pi)


def no_exploration(patch: pytest.MonkeyPatch) -> None:
    for behaviour in (cm.UniformMixture, cm.EpsilonGreedy):
        patch.setattr(behaviour, "at", lambda self, pi, t: pi)


def no_projection(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(law, "project_onto_simplex", lambda x: x)


def late_bound(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(convergence, "proposition_1_bound", lambda *a, **k: 0.9)


@pytest.mark.parametrize(
    ("break_it", "broken"),
    [
        (None, [1, 2, 4, 7]),
        (unweighted_natural, [1, 2, 11]),
        (wrong_metric, [1, 2, 8, 9]),
        (no_exploration, [9]),
        (no_projection, [11]),
        (late_bound, [3]),
    ],
    ids=lambda x: x.__name__ if callable(x) else "" if x else "negated_baselines",
)
def test_broken_physics_fails(
    monkeypatch: pytest.MonkeyPatch,
    negate_baselines: Break,
    break_it: Break | None,
    broken: list[int],
) -> None:
    (break_it or negate_baselines)(monkeypatch)
    for number in broken:
        with np.errstate(all="ignore"):
            row: Any = theory.claims([number])[0]
        assert not row.verdict, str(row)


@pytest.mark.slow
@pytest.mark.parametrize("break_it", [None, unweighted_natural])
def test_broken_physics_is_not_what_is_simulated(
    monkeypatch: pytest.MonkeyPatch, negate_baselines: Break, break_it: Break | None
) -> None:
    (break_it or negate_baselines)(monkeypatch)
    assert not theory.claims([3])[0].verdict


def test_a_simulator_that_never_explores_fails_claim_6(monkeypatch: pytest.MonkeyPatch) -> None:
    stuck = convergence.simulated_stuck

    def on_policy(experiment: cm.Experiment, *rest: int) -> tuple[float, float]:
        return stuck(experiment.replace(behaviour=cm.OnPolicy()), *rest)

    monkeypatch.setattr(convergence, "simulated_stuck", on_policy)
    assert not theory.claims([6])[0].verdict


def test_arguments() -> None:
    with pytest.raises(cm.ConfigError, match="ids"):
        theory.claims([10])
    with pytest.raises(cm.ConfigError, match="rng"):
        theory.claims([8], rng=-1)
    table = theory.claims([8, 2])
    assert [row.id for row in table] == [8, 2]
    assert table[1].id == 2
    assert len(table) == 2


def test_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    runner = CliRunner()
    printed = runner.invoke(app, ["claims", "8"])
    assert printed.exit_code == 0
    assert "1 of 1 claims hold" in printed.output
    as_json = runner.invoke(app, ["claims", "2", "8", "--json"])
    assert [claim["id"] for claim in json.loads(as_json.output)] == [2, 8]
    wrong_metric(monkeypatch)
    broken = runner.invoke(app, ["claims", "8"])
    assert broken.exit_code == 1
    assert "FAILS" in broken.output
