"""Pictures of studies: what is drawn, and on which axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr
from matplotlib.figure import Figure

import committal as cm
from committal import analysis
from committal.plot.heatmap import LATE

ConfigError = cm.errors.ConfigError


@pytest.fixture(scope="module")
def data() -> xr.Dataset:
    base = cm.Experiment(
        cm.Bandit([1.0, 0.7, 0.0]), cm.Softmax([0, 3, 5]), cm.Natural(0.1), steps=100,
        record=cm.Record("value", "policy", every=10),
    )  # fmt: skip
    grid = {"baseline": [cm.MinVariance(), 0.0], "update.step_size": [0.05, 0.1, 0.2, 0.4]}
    return cm.Study(base, grid, runs=50, rng=0).run(progress=False)


def axes() -> Any:
    return Figure().add_subplot()


def test_bands(data: xr.Dataset) -> None:
    ax = axes()
    assert cm.plot.bands(data.sel(step_size=0.1), ax=ax) is ax
    assert len(ax.get_lines()) == 2
    assert len(ax.collections) == 2
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["MinVariance()", "0.0", "95 % interval"]
    curve = analysis.mean_curves(data.sel(step_size=0.1, baseline="0.0"))
    np.testing.assert_array_equal(ax.get_lines()[1].get_ydata(), curve["estimate"].values)
    again = cm.plot.bands(analysis.mean_curves(data.sel(step_size=0.1), method="bootstrap"))
    assert len(again.get_lines()) == 2
    assert again.get_legend().get_texts()[-1].get_text() == "95 % interval (bootstrap)"


def test_bands_of_numbers_are_coloured_in_order(data: xr.Dataset) -> None:
    ax = cm.plot.bands(data.sel(baseline="0.0"), ax=axes(), log_time=True)
    brightness = [sum(line.get_color()[:3]) for line in ax.get_lines()]
    assert brightness == sorted(brightness)
    assert ax.get_xscale() == "log"
    assert ax.get_legend().get_texts()[0].get_text() == "step size = 0.05"


def test_one_curve_needs_no_name_and_its_band_does(data: xr.Dataset) -> None:
    one = data.sel(baseline="0.0", step_size=0.1)
    for ax in (
        cm.plot.bands(one, ax=axes(), level=0.9),
        cm.plot.survival(one, above=0.8, ax=axes(), level=0.9),
    ):
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["90 % interval"]
    assert cm.plot.bands(one, ax=axes(), legend=False).get_legend() is None


def test_heatmap(data: xr.Dataset) -> None:
    ax = cm.plot.heatmap(data, below=0.9, ax=axes(), contours=[0.5])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("step size", "baseline")
    assert ax.get_xscale() == "log"  # the labels double
    assert [text.get_text() for text in ax.get_yticklabels()] == ["MinVariance()", "0.0"]
    mesh = ax.collections[0]
    rates = analysis.failure_rates(data, 0.9)["estimate"]
    np.testing.assert_array_equal(np.ravel(mesh.get_array()), rates.values.ravel())
    assert mesh.get_clim() == (0.0, 1.0)
    turned = cm.plot.heatmap(rates, x="baseline", ax=axes(), colorbar=False)
    assert turned.get_ylabel() == "step size"
    assert len(turned.figure.axes) == 1


def test_cells_of_a_heatmap_end_between_the_labels() -> None:
    array = xr.DataArray(
        np.zeros((3, 4)), coords={"y": [0.0, 1.0, 2.0], "x": [1, 10, 100, 1000]}, dims=("y", "x")
    )
    mesh = cm.plot.heatmap(array, ax=axes()).collections[0]
    corners = mesh.get_coordinates()
    np.testing.assert_allclose(corners[0, :, 0], 10.0 ** np.arange(-0.5, 4))
    np.testing.assert_allclose(corners[:, 0, 1], [-0.5, 0.5, 1.5, 2.5])


def test_survival(data: xr.Dataset) -> None:
    ax = cm.plot.survival(data.sel(step_size=0.2), above=0.9, ax=axes())
    assert len(ax.get_lines()) == 2
    assert ax.get_ylim()[0] == 0
    assert "0.9" in ax.get_ylabel()
    made = analysis.survival(data.sel(step_size=0.2), 0.9)
    assert len(cm.plot.survival(made, ax=axes()).get_lines()) == 2


def test_curves_of_different_length() -> None:
    base = cm.Experiment(
        cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), steps=20,
        record=cm.Record("value", every=10),
    )  # fmt: skip
    grid = {"length": {"short": {"steps": 20}, "long": {"steps": 40}}}
    data = cm.Study(base, grid, runs=10, rng=0).run(progress=False)
    ax = cm.plot.bands(data, ax=axes())
    assert [len(np.asarray(line.get_xdata())) for line in ax.get_lines()] == [3, 5]
    ax = cm.plot.survival(data, above=0.6, ax=axes())
    assert [len(np.asarray(line.get_xdata())) for line in ax.get_lines()] == [3, 5]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d: cm.plot.bands(3), "data = 3"),
        (lambda d: cm.plot.bands(d.isel(time=[0])), "at least two times"),
        (lambda d: cm.plot.bands(xr.concat([d] * 9, "more")), "at most 40 curves"),
        (lambda d: cm.plot.survival(d), "above = None"),
        (lambda d: cm.plot.survival(3), "data = 3"),
        (lambda d: cm.plot.heatmap(3), "data = 3"),
        (lambda d: cm.plot.heatmap(d.isel(baseline=0), below=0.9), "two axes"),
        (lambda d: cm.plot.heatmap(d, "time", below=0.9), "'baseline' and 'step_size'"),
        (lambda d: cm.plot.heatmap(d.isel(step_size=[0, 2, 1]), below=0.9), "in order"),
    ],
)
def test_refuses_by_name(data: xr.Dataset, call: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        call(data)


def test_names_that_begin_with_an_underscore_are_in_the_legend() -> None:
    """Matplotlib leaves such labels out; dollars would be taken for mathematics."""
    exp = cm.Experiment(
        cm.Bandit([1.0, 0.0]), cm.Sigmoid(), cm.Natural(0.1), steps=4,
        record=cm.Record("value", every=1),
    )  # fmt: skip
    grid = {"baseline": {"_low": {"baseline": -1.0}, r"$\no$": {"baseline": 0.0}}}
    ax = cm.plot.bands(cm.Study(exp, grid, runs=3, rng=0).run(), ax=Figure().add_subplot())
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text().strip() for text in legend.get_texts()][:2] == ["_low", r"\$\no\$"]
    ax.figure.draw_without_rendering()


def test_ticks_of_heat_maps_are_points_of_the_grid() -> None:
    numbers = np.array([0.03, 0.07, 0.11, 0.15])
    many = np.linspace(0.0, 1.0, 30)
    data = xr.DataArray(np.zeros((4, 30)), {"few": numbers, "many": many}, ("few", "many"))
    ax = cm.plot.heatmap(data, ax=Figure().add_subplot())
    np.testing.assert_allclose(ax.get_yticks(), numbers)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["0.03", "0.07", "0.11", "0.15"]
    assert set(ax.get_xticks()) <= set(many)
    assert len(ax.get_xticks()) <= 9


def test_an_arrow_says_where_colours_end() -> None:
    data = xr.DataArray(np.arange(6.0).reshape(2, 3), {"a": [0, 1], "b": [0, 1, 2]}, ("a", "b"))
    for vmin, vmax, extend in (
        (None, None, "neither"), (1, None, "min"), (None, 4, "max"), (1, 4, "both"),
    ):  # fmt: skip
        ax: Any = cm.plot.heatmap(data, vmin=vmin, vmax=vmax, ax=Figure().add_subplot())
        assert ax.collections[0].colorbar.extend == extend


def test_many_names_stand_beside_the_curves() -> None:
    exp = cm.Experiment(
        cm.Bandit([1.0, 0.0]), cm.Sigmoid(), cm.Natural(0.1), steps=4,
        record=cm.Record("value", every=1),
    )  # fmt: skip
    for count, beside in ((6, False), (7, True)):
        sizes = np.linspace(0.1, 0.7, count).tolist()
        study = cm.Study(exp, {"update.step_size": sizes}, runs=2, rng=0).run()
        ax = cm.plot.bands(study, ax=Figure(layout="constrained").add_subplot())
        ax.figure.draw_without_rendering()
        legend = ax.get_legend()
        assert legend is not None
        assert (legend.get_window_extent().x0 >= ax.get_window_extent().x1) == beside


def test_a_map_of_failures_says_what_a_failure_is() -> None:
    exp = cm.Experiment(cm.Bandit([1.0, 0.0]), cm.Sigmoid(-1.0), cm.Natural(0.1), -1.0, steps=50)
    grid = {"baseline.c": [-1.0, 0.0], "update.step_size": [0.05, 0.1]}
    study = cm.Study(exp, grid, runs=20, rng=0).run()
    ax: Any = cm.plot.heatmap(study, below=0.5, contours=[0.1], ax=Figure().add_subplot())
    bar = ax.collections[0].colorbar
    assert bar.ax.get_ylabel() == "failure rate ($J < 0.5$)"
    assert len(bar.lines) == 1  # the level of the line is marked on the scale


def test_a_phase_diagram_tells_stuck_from_not_finished() -> None:
    # Small steps from a start far away: after 200 updates nobody is sure of anything.
    base = cm.Experiment(
        cm.Bandit([1.0, 0.7, 0.0]), cm.Softmax([0, 3, 5]), cm.Natural(0.1), steps=200,
        record=cm.Record("value", "policy"),
    )  # fmt: skip
    grid = {"update.step_size": [0.001, 1.0], "baseline": [-0.5, 0.0]}
    data = cm.Study(base, grid, runs=20, rng=0).run(progress=False)
    rates = cm.analysis.failure_rates(data, below=0.9)
    assert (
        rates["failures"].values[0].tolist() == rates["unfinished"].values[0].tolist() == [20, 20]
    )
    assert rates["failures"].values[1].min() > 5
    assert (2 * rates["unfinished"] < rates["failures"]).values[1].all()
    for drawn in (data, rates):
        ax = cm.plot.heatmap(drawn, below=None if drawn is rates else 0.9)
        (circles,) = ax.lines
        np.testing.assert_allclose(circles.get_ydata(), [0.001, 0.001])
        assert ax.get_legend().get_texts()[0].get_text() == LATE
    # Nobody knows without policies.
    without = cm.analysis.failure_rates(data.drop_vars("policy"), below=0.9)
    assert "unfinished" not in without
    assert not cm.plot.heatmap(without).lines
