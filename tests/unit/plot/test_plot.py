"""Pictures: what is drawn, and that nothing global is touched."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import mpltern  # noqa: F401
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

import committal as cm

ConfigError = cm.errors.ConfigError


@pytest.fixture(scope="module")
def experiment() -> cm.Experiment:
    return cm.Experiment(
        cm.Bandit([1.0, 0.7, 0.0]), cm.Softmax([0, 3, 5]), cm.Natural(0.025),
        cm.MinVariance() - 0.5, steps=300, record=cm.Record("value", "policy", every=10),
    )  # fmt: skip


def ternary() -> Any:  # mpltern has no type hints
    return Figure().add_subplot(projection="ternary")


def test_simplex_colours_runs_by_time(experiment: cm.Experiment) -> None:
    data = cm.run(experiment, runs=20, rng=0)
    ax = ternary()
    assert cm.plot.simplex(data, ax, max_runs=15) is ax
    (lines,) = ax.collections
    assert isinstance(lines, LineCollection)
    assert len(lines.get_segments()) == 15 * 30
    colours = lines.get_array()
    assert colours is not None
    assert colours.min() == 10
    assert colours.max() == 300


def test_simplex_corners_are_the_arms() -> None:
    # One run per corner, each starting in the middle.
    exp = cm.Experiment(
        cm.Bandit([1.0, 0.7, 0.0]), cm.Softmax(), cm.Natural(0.1), steps=1,
        record=cm.Record("policy", every=1),
    )  # fmt: skip
    data = cm.run(exp, runs=3, rng=0)
    data["policy"].values[:, 1] = np.eye(3)
    ax: Any = cm.plot.simplex(data, ternary())
    first, second, third = (segment[1] for segment in ax.collections[0].get_segments())
    assert first[0] > second[0] > third[0]  # right, top, left
    assert second[1] > first[1] == pytest.approx(third[1])
    middle = ax.collections[0].get_segments()[0][0]
    np.testing.assert_allclose(middle, np.mean([first, second, third], axis=0), atol=1e-12)
    texts = {ax.taxis.label.get_text(), ax.laxis.label.get_text(), ax.raxis.label.get_text()}
    assert any("r = 0.7" in text for text in texts)


def test_simplex_true_gradient_in_black(experiment: cm.Experiment) -> None:
    data = cm.run(experiment, runs=2, rng=0)
    exact = cm.run(experiment.replace(estimator=cm.Expected(), baseline=0.0), runs=1, rng=0)
    ax: Any = cm.plot.simplex(data, ternary(), true_gradient=exact)
    path, ends, start = ax.lines
    assert path.get_color() == start.get_color() == "black"
    assert len(path.get_xdata()) == 31
    numbers = [int(text.get_text()) for text in ax.texts if text.get_gid() == "count"]
    assert len(ends.get_xdata()) + sum(numbers) == 2


def test_simplex_refuses_by_name(experiment: cm.Experiment) -> None:
    two = experiment.replace(problem=cm.Bandit([1, 0]), policy=cm.Softmax())
    with pytest.raises(ConfigError, match="three arms"):
        cm.plot.simplex(cm.run(two, runs=1, rng=0))
    with pytest.raises(ConfigError, match="two recorded times"):
        cm.plot.simplex(cm.run(experiment.replace(record=cm.Record()), runs=1, rng=0))
    with pytest.raises(ConfigError, match="policy"):
        cm.plot.simplex(
            cm.run(experiment.replace(record=cm.Record("value", every=10)), runs=1, rng=0)
        )
    data = cm.run(experiment, runs=1, rng=0)
    with pytest.raises(ConfigError, match="ternary"):
        cm.plot.simplex(data, Figure().add_subplot())
    with pytest.raises(ConfigError, match="data = 3"):
        cm.plot.simplex(3)  # type: ignore[arg-type]


def test_simplex_of_a_dataset_that_lost_its_attributes(experiment: cm.Experiment) -> None:
    data = cm.run(experiment, runs=1, rng=0).drop_attrs()
    ax: Any = cm.plot.simplex(data, ternary(), colorbar=True)
    assert ax.taxis.label.get_text() == "arm 2"


def test_curves_are_coloured_by_outcome(experiment: cm.Experiment) -> None:
    data = cm.run(experiment, runs=30, rng=0).drop_vars("policy")
    data["value"].values[:, -1] = np.where(np.arange(30) < 6, 0.7, 1.0)
    ax = cm.plot.learning_curves(data, 0.9, Figure().add_subplot(), max_runs=10)
    reached, failed = ax.collections
    assert isinstance(reached, LineCollection)
    assert isinstance(failed, LineCollection)
    assert (len(reached.get_segments()), len(failed.get_segments())) == (4, 6)
    assert ax.get_title() == "failed ($J < 0.9$): 20 %"  # of all runs, not of those drawn
    mean, level = ax.lines
    assert set(np.asarray(level.get_ydata())) == {0.9}
    assert legend_of(ax) == ["ends at 0.9 or above", "ends below 0.9", "mean", "$J = 0.9$"]
    np.testing.assert_allclose(np.asarray(mean.get_ydata()), data["value"].mean("run").values)
    assert ax.get_xlabel() == "update"


def test_curves_that_have_not_finished_have_a_colour_of_their_own() -> None:
    exp = cm.Experiment(
        cm.Bandit([1, 0.7, 0]), cm.Softmax(), cm.Natural(0.1), steps=4,
        record=cm.Record("value", "policy", every=1),
    )  # fmt: skip
    data = cm.run(exp, runs=3, rng=0)
    final = np.array([[1, 0, 0], [0, 1, 0], [0.3, 0.4, 0.3]])
    data["policy"].values[:, -1] = final
    data["value"].values[:, -1] = final @ [1.0, 0.7, 0.0]
    ax = cm.plot.learning_curves(data, ax=Figure().add_subplot())
    assert [len(lines.get_paths()) for lines in ax.collections] == [1, 1, 1]
    colours = [tuple(lines.get_edgecolor()[0]) for lines in ax.collections]
    assert len(set(colours)) == 3
    assert legend_of(ax) == [
        "ends at 0.85 or above",
        r"below, sure of one arm ($\pi \geq 0.99$)",
        "below, not finished",
        "mean",
        "$J = 0.85$",
    ]


def legend_of(ax: Axes) -> list[str]:
    legend = ax.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


def test_failed_is_relative_to_the_problem() -> None:
    """Where the best arm pays 0.9, a run that takes it nearly always has learned."""
    exp = cm.Experiment(
        cm.Bandit([0.9, 0.6, 0.2]), cm.Softmax(), cm.Natural(0.1), cm.Value(), steps=500,
        record=cm.Record("value", every=50),
    )  # fmt: skip
    data = cm.run(exp, runs=20, rng=0)
    final = data["value"].values[:, -1]
    assert final.min() > 0.88  # every run has learned
    assert np.mean(final < 0.9) > 0.5  # and 0.9 would have called most of them failed
    ax = cm.plot.learning_curves(data, ax=Figure().add_subplot())
    assert ax.get_title() == "failed ($J < 0.75$): 0 of 20 (< 16 %)"
    assert [len(lines.get_paths()) for lines in ax.collections] == [20, 0]
    assert legend_of(ax) == ["ends at 0.75 or above", "mean", "$J = 0.75$"]


def test_nothing_is_called_failed_where_no_level_is_known(experiment: cm.Experiment) -> None:
    alike = experiment.replace(problem=cm.Bandit([1.0, 1.0, 1.0]))
    lost = cm.run(experiment, runs=3, rng=0).drop_attrs()
    maze = cm.Experiment(
        cm.maps.four_rooms(), cm.Softmax(), cm.Vanilla(0.1), 1.0, estimator=cm.Reinforce(),
        steps=20, record=cm.Record("value", every=5),
    )  # fmt: skip
    for data in (cm.run(alike, runs=3, rng=0), lost, cm.run(maze, runs=3, rng=0)):
        ax = cm.plot.learning_curves(data, ax=Figure().add_subplot())
        assert ax.get_title() == ""
        assert [len(lines.get_paths()) for lines in ax.collections] == [3, 0]
        told = cm.plot.learning_curves(data, below=2.0, ax=Figure().add_subplot())
        assert told.get_title() == "failed ($J < 2$): 100 %"


def test_curves_of_a_study_are_refused(experiment: cm.Experiment) -> None:
    study = cm.Study(experiment, {"update.step_size": [0.1, 0.2]}, runs=2, rng=0).run()
    with pytest.raises(ConfigError, match="one configuration"):
        cm.plot.learning_curves(study)


def test_curves_of_reduced_data(experiment: cm.Experiment) -> None:
    reduce = cm.Reduce(below=0.9, quantiles=(0.9, 0.1, 0.5))
    record = cm.Record("value", every=10, reduce=reduce)
    data = cm.run(experiment.replace(record=record), runs=200, rng=0)
    ax = cm.plot.learning_curves(data, ax=Figure().add_subplot())
    assert len(ax.collections) == 2
    assert ax.get_title().startswith("failed ($J < 0.9$): ")
    assert "10 % to 90 % of runs" in legend_of(ax)
    with pytest.raises(ConfigError, match="below"):
        cm.plot.learning_curves(data, below=0.5, ax=Figure().add_subplot())
    plain = experiment.replace(record=cm.Record("value", every=10, reduce=cm.Reduce()))
    assert cm.plot.learning_curves(cm.run(plain, runs=5, rng=0)).get_title() == ""


def test_curves_refuse_by_name(experiment: cm.Experiment) -> None:
    with pytest.raises(ConfigError, match="two recorded times"):
        cm.plot.learning_curves(cm.run(experiment.replace(record=cm.Record()), runs=1, rng=0))
    with pytest.raises(ConfigError, match="Record"):
        cm.plot.learning_curves(
            cm.run(experiment.replace(record=cm.Record("policy", every=10)), runs=1, rng=0)
        )
    with pytest.raises(ConfigError, match="data = 3"):
        cm.plot.learning_curves(3)  # type: ignore[arg-type]


def test_empty_data_make_empty_pictures(experiment: cm.Experiment) -> None:
    none, one = (cm.run(experiment, runs=runs, rng=0) for runs in (0, 1))
    for draw, axes in (
        (cm.plot.simplex, ternary),
        (lambda data, ax: cm.plot.learning_curves(data, ax=ax), lambda: Figure().add_subplot()),
    ):
        paths = []
        for data in (none, one):
            ax = axes()
            draw(data, ax)
            paths.append(sum(len(found.get_paths()) for found in ax.collections) + len(ax.lines))
        assert paths[0] < paths[1]


def test_pyplot_is_left_alone_when_axes_are_given(experiment: cm.Experiment) -> None:
    data = cm.run(experiment, runs=2, rng=0)
    figure, axes = cm.plot.panels(2, "simplex")
    cm.plot.simplex(data, axes[0])
    _, (left, right) = cm.plot.panels(2, "curves")
    cm.plot.learning_curves(data, ax=left)
    assert left.get_ylim() == right.get_ylim()
    assert plt.get_fignums() == []
    assert len(figure.axes) == 2


def test_without_axes_there_is_a_new_figure(experiment: cm.Experiment) -> None:
    data = cm.run(experiment, runs=2, rng=0)
    first, second = cm.plot.simplex(data), cm.plot.learning_curves(data)
    assert first.figure is not second.figure
    assert len(plt.get_fignums()) == 2


def test_panels_refuse_by_name() -> None:
    with pytest.raises(ConfigError, match="count = 0"):
        cm.plot.panels(0)
    with pytest.raises(ConfigError, match="kind = 'pie'"):
        cm.plot.panels(1, "pie")  # type: ignore[arg-type]


def test_time_colours_use_their_range(experiment: cm.Experiment) -> None:
    """Vanilla runs make most of their way at once; half of the colours is for that."""
    record = cm.Record("policy", log=100)
    exp = experiment.replace(
        policy=cm.Softmax(), update=cm.Vanilla(0.5), steps=10_000, record=record
    )
    data = cm.run(exp, runs=10, rng=0)
    lines: Any = cm.plot.simplex(data, ternary()).collections[0]
    way = np.linalg.norm(np.diff(data["policy"].values, axis=1), axis=2).sum(axis=0).cumsum()
    half = data["time"].values[1:][np.searchsorted(way, way[-1] / 2)]
    assert half < 200  # on a linear scale, 2 % of the colours
    assert lines.norm(half) == pytest.approx(0.5, abs=0.1)
    fixed: Any = cm.plot.simplex(data, ternary(), power=1.0).collections[0]
    assert fixed.norm(half) == pytest.approx(half / 10_000)


@pytest.mark.parametrize("below", ["x", float("nan"), [0.5]])
def test_a_level_that_is_no_number_is_refused(below: Any, three_arms: cm.Experiment) -> None:
    data = cm.run(three_arms.replace(steps=5, record=cm.Record("value", every=1)), runs=3, rng=0)
    with pytest.raises(cm.ConfigError, match=r"^below = "):
        cm.plot.learning_curves(data, below=below)
