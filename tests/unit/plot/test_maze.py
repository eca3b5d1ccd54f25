"""Pictures of gridworlds."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrow

import committal as cm

GRID = cm.gridworld("S..A\n.#.B", goals={"A": 1.0, "B": 0.5})


@pytest.fixture(scope="module")
def experiment() -> cm.Experiment:
    return cm.Experiment(
        GRID, cm.Softmax(), cm.Vanilla(0.1), estimator=cm.Reinforce(), steps=30,
        record=cm.Record("visits", "policy", every=10),
    )  # fmt: skip


def image_of(ax: Any, index: int) -> np.ndarray:
    return np.ma.filled(ax.images[index].get_array(), np.nan)


def arrows(ax: Any) -> list[Any]:
    return [patch for patch in ax.patches if isinstance(patch, FancyArrow)]


def test_the_map_has_walls_goals_and_a_start() -> None:
    ax = Figure().add_subplot()
    assert cm.plot.grid(GRID, ax=ax) is ax
    (cells,) = (image_of(ax, 0),)
    assert cells.tolist() == [[1, 1, 1, 2], [1, 0, 1, 2]]
    assert {text.get_text() for text in ax.texts} == {"S", "A\n1", "B\n0.5"}
    assert ax.get_xlim() == (-0.5, 3.5)
    assert ax.get_ylim() == (1.5, -0.5)  # the first row is on top
    assert arrows(ax) == []


def test_values_colour_the_cells_that_are_acted_in() -> None:
    V = cm.evaluate(GRID).V
    ax: Any = cm.plot.grid(GRID, V, ax=Figure().add_subplot(), numbers=True, colorbar=True)
    values = image_of(ax, 1)
    for s, cell in enumerate(GRID.cells):
        if s in GRID.terminal:
            assert np.isnan(values[cell])
        else:
            assert values[cell] == V[s]
    assert np.isnan(values[1, 1])
    written = {text.get_text() for text in ax.texts}
    assert f"{V[0]:.2f}" in written
    assert len(ax.figure.axes) == 2


def test_arrows_point_where_the_policy_goes() -> None:
    policy = np.zeros((GRID.n_states, 4))
    policy[:, 1] = 0.75
    policy[:, 2] = 0.25
    ax: Any = cm.plot.grid(GRID, policy=policy, ax=Figure().add_subplot())
    found = arrows(ax)
    assert len(found) == 2 * (GRID.n_states - len(GRID.terminal))
    right, down = (arrow.get_xy() for arrow in found[:2])
    assert right[:, 0].max() == pytest.approx(0.45 * 0.75)
    assert down[:, 1].max() == pytest.approx(0.45 * 0.25)
    best: Any = cm.plot.grid(GRID, policy=cm.optimal(GRID).policy, ax=Figure().add_subplot())
    assert len(arrows(best)) == GRID.n_states - len(GRID.terminal)


def test_visits_are_means_over_runs_on_a_logarithmic_scale(experiment: cm.Experiment) -> None:
    data = cm.run(experiment, runs=6, rng=0)
    ax: Any = cm.plot.visits(data, Figure().add_subplot())
    mean = data["visits"].isel(time=-1).mean("run").to_numpy()
    counts = image_of(ax, 1)
    for s, cell in enumerate(GRID.cells):
        assert counts[cell] == mean[s] or (s in GRID.terminal and np.isnan(counts[cell]))
    assert isinstance(ax.images[1].norm, LogNorm)
    one: Any = cm.plot.visits(data, Figure().add_subplot(), run=2, colorbar=False)
    assert image_of(one, 1)[0, 0] == data["visits"].sel(run=2).isel(time=-1)[0]
    assert len(one.figure.axes) == 1
    record = cm.Record("visits", reduce=cm.Reduce())
    reduced = cm.run(experiment.replace(record=record), runs=6, rng=0)
    again: Any = cm.plot.visits(reduced, Figure().add_subplot())
    np.testing.assert_allclose(image_of(again, 1), counts, rtol=1e-12)
    with pytest.raises(cm.ConfigError, match=r"run = 2 .*reduced"):
        cm.plot.visits(reduced, run=2)


def test_one_visited_cell_is_enough() -> None:
    lonely = cm.gridworld("SA", goals={"A": 1})
    exp = cm.Experiment(
        lonely, cm.Softmax([0, 900, 0, 0]), cm.Vanilla(0.1), estimator=cm.Reinforce(), steps=1,
        record=cm.Record("visits"),
    )  # fmt: skip
    ax = cm.plot.visits(cm.run(exp, runs=1, rng=0))
    ax.figure.canvas.draw()
    assert len(plt.get_fignums()) == 1


def test_pictures_are_refused_by_name(experiment: cm.Experiment) -> None:
    with pytest.raises(cm.ConfigError, match=r"problem = Bandit.*Gridworld"):
        cm.plot.grid(cm.Bandit([1, 0]))  # type: ignore[arg-type]
    with pytest.raises(cm.ConfigError, match=r"values = .*shape \(7,\)"):
        cm.plot.grid(GRID, np.zeros(3))
    with pytest.raises(cm.ConfigError, match=r"policy = .*shape \(7, 4\)"):
        cm.plot.grid(GRID, policy=np.zeros((7, 3)))
    with pytest.raises(cm.ConfigError, match="values = 'V'"):
        cm.plot.grid(GRID, "V")
    with pytest.raises(cm.ConfigError, match="data = 3"):
        cm.plot.visits(3)  # type: ignore[arg-type]
    data = cm.run(experiment, runs=2, rng=0)
    with pytest.raises(cm.ConfigError, match=r"Record\('visits'\)"):
        cm.plot.visits(data.drop_vars("visits"))
    with pytest.raises(cm.ConfigError, match="run = 9"):
        cm.plot.visits(data, run=9)
    chain = cm.TabularMDP([(0, 0, 1, 1, 0)], gamma=0.5, start=0, terminal=[1])
    plain = cm.run(experiment.replace(problem=chain), runs=2, rng=0)
    with pytest.raises(cm.ConfigError, match="a Gridworld"):
        cm.plot.visits(plain)


def test_panels_of_grids() -> None:
    _, axes = cm.plot.panels(2, "grid")
    cm.plot.grid(GRID, ax=axes[0])
    cm.plot.grid(cm.maps.four_rooms(), ax=axes[1])
    assert axes[0].get_xlim() != axes[1].get_xlim()
    assert plt.get_fignums() == []


def test_maps_side_by_side_can_share_their_scale() -> None:
    rooms = cm.maps.four_rooms()
    v = cm.evaluate(rooms).V
    ax = cm.plot.grid(rooms, v, ax=Figure().add_subplot(), vmin=0.0, vmax=1.0)
    assert (ax.images[-1].norm.vmin, ax.images[-1].norm.vmax) == (0.0, 1.0)
    exp = cm.Experiment(
        rooms, cm.Softmax(), cm.Vanilla(0.1), estimator=cm.Reinforce(), steps=5,
        record=cm.Record("visits"),
    )  # fmt: skip
    data = cm.run(exp, runs=2, rng=0)
    ax = cm.plot.visits(data, Figure().add_subplot(), vmin=0.1, vmax=100.0)
    assert (ax.images[-1].norm.vmin, ax.images[-1].norm.vmax) == (0.1, 100.0)
    with pytest.raises(cm.ConfigError, match="vmin"):
        cm.plot.visits(data, Figure().add_subplot(), vmin=0.0)
