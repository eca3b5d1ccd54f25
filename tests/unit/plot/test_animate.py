"""Animations: as many frames as asked for, of what was recorded, in files that need no others."""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from matplotlib.collections import LineCollection
from PIL import Image

import committal as cm
from committal.plot import moving_maze, moving_simplex
from committal.plot.simplex import END, TRUE

sys.path.insert(0, str(Path(__file__).parent.parent))  # its files are not a package
from markup import read

BASE = cm.Experiment(
    cm.Bandit([1.0, 0.7, 0.0], names=["<b>", "5 $", "_"]), cm.Softmax([0, 3, 5]), cm.Natural(0.025),
    cm.MinVariance() - 0.5, steps=400, record=cm.Record("policy", every=4),
)  # fmt: skip
ROOMS = cm.Experiment(
    cm.maps.five_by_five(), cm.Softmax(), cm.Natural(0.2), cm.Value(), estimator=cm.ExactQ(),
    steps=40, record=cm.Record("policy", "visits", every=2),
)  # fmt: skip


@pytest.fixture(scope="module")
def runs() -> xr.Dataset:
    return cm.run(BASE, runs=6, rng=0)


@pytest.fixture(scope="module")
def walks() -> xr.Dataset:
    return cm.run(ROOMS, runs=4, rng=0)


def test_a_gif_has_every_frame(runs: xr.Dataset, tmp_path: Path) -> None:
    film = cm.plot.animate({"a": runs, "b": runs}, frames=9, seconds=1.8, dpi=40)
    with Image.open(film.save(tmp_path / "runs.gif")) as gif:
        assert gif.n_frames == len(film) == 9
        assert gif.info["loop"] == 0
        durations, seen = [], []
        for i in range(9):
            gif.seek(i)
            durations.append(gif.info["duration"])
            seen.append(np.asarray(gif.convert("RGB")))
    assert durations == [200] * 8 + [1500]
    for shown, frame in zip(seen, film.frames, strict=True):
        np.testing.assert_array_equal(shown, np.asarray(frame.convert("RGB")))
    assert (seen[0] != seen[-1]).any(axis=-1).mean() > 0.005


def test_a_page_needs_nothing_else(runs: xr.Dataset, tmp_path: Path) -> None:
    film = cm.plot.animate(runs, frames=5, dpi=40)
    text = film.save(tmp_path / "runs.html").read_text(encoding="utf-8")
    read(text, scripts=True)
    assert "://" not in text
    assert text.count("iVBORw0KGgo") == 5  # how pictures begin, in base 64
    for time in film.times:
        assert f'"update {time}"' in text


def test_a_notebook_plays_it_in_a_frame_of_its_own(runs: xr.Dataset) -> None:
    film = cm.plot.animate(runs, frames=3, dpi=40)
    page = read(film._repr_html_())  # no script outside of the frame
    assert page.tags == ["iframe"]
    attributes = dict(page.attributes)
    assert attributes["sandbox"] == "allow-scripts"
    assert attributes["srcdoc"] == film.html()


def test_frames_are_recorded_times_and_end_at_the_end(runs: xr.Dataset) -> None:
    film = cm.plot.animate(runs, frames=6, dpi=20)
    assert set(film.times) <= set(runs["time"].values.tolist())
    assert film.times[0] == 0
    assert film.times[-1] == 400
    assert list(film.times) == sorted(set(film.times))
    few = runs.isel(time=slice(0, None, 25))
    assert cm.plot.animate(few, frames=60, dpi=20).times == (0, 100, 200, 300, 400)


def test_runs_are_where_they_are_at_the_time(runs: xr.Dataset) -> None:
    expected = cm.run(BASE.replace(estimator=cm.Expected(), baseline=0), runs=1)
    figure, draw = moving_simplex.stage({"": runs}, 1.0, true_gradient=expected, max_runs=4)
    ax = figure.axes[0]
    (lines,) = (c for c in ax.collections if isinstance(c, LineCollection))
    named = {line.get_label(): line for line in ax.lines}
    for time in (0, 40, 400):
        draw(time)
        policies = runs["policy"].sel(time=time).values[:4]
        # The corners of the triangle: arm 2 on top, arm 3 on the left, arm 1 on the right.
        where = ax.transProjection.transform(policies[:, [1, 2, 0]])
        dots = np.column_stack(named[END].get_data())
        assert all(np.abs(where - dot).max(axis=1).min() < 1e-12 for dot in dots)
        # What lies on each other is a circle with its number: every run is there once.
        heaps = sum(int(text.get_text()) for text in ax.texts if text.get_gid() == "count")
        assert len(dots) + heaps == 4
        assert len(lines.get_segments()) == 4 * time // 4
        assert len(named[TRUE].get_xdata()) == time // 4 + 1
    assert lines.get_array().max() == 400


def test_a_maze_shows_visits_and_arrows_of_the_time(walks: xr.Dataset) -> None:
    found = moving_maze.Recorded(walks, run=2)
    figure, draw = moving_maze.stage({"": found})
    ax = figure.axes[0]
    problem = found.problem
    for time in (0, 20, 40):
        draw(time)
        visits = walks["visits"].sel(run=2, time=time).values
        shown = ax.images[1].get_array()
        for s in np.flatnonzero(~problem.is_terminal):
            value = shown[problem.cells[s]]
            assert (value == visits[s]) if visits[s] else np.ma.is_masked(value)
        policy = walks["policy"].sel(run=2, time=time).values[~problem.is_terminal]
        assert len(ax.collections[0].get_paths()) == (policy >= 0.02).sum()


def test_a_maze_as_a_film(walks: xr.Dataset, tmp_path: Path) -> None:
    film = cm.plot.animate({"mean": walks}, frames=4, dpi=40)
    assert Image.open(BytesIO(film.gif())).n_frames == 4
    assert '"episode 40"' in film.html()
    only = cm.plot.animate(walks.drop_vars("policy"), frames=3, dpi=40)
    assert len(only) == 3
    reduced = ROOMS.replace(record=cm.Record("visits", every=2, reduce=cm.Reduce()))
    assert len(cm.plot.animate(cm.run(reduced, runs=4, rng=0), frames=3, dpi=40)) == 3


def test_large_areas_keep_their_colour(walks: xr.Dataset) -> None:
    film = cm.plot.animate(walks, frames=3, dpi=60)
    colours = {colour for _, colour in film.frames[0].convert("RGB").getcolors()}
    assert (255, 255, 255) in colours
    assert (0xF6, 0xE3, 0xB4) in colours  # goals


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"run": 0}, "run = 0 .*all runs are shown"),
        ({"data": {}}, "one to 4 datasets"),
    ],
)
def test_what_makes_no_sense_is_refused(
    runs: xr.Dataset, arguments: dict[str, object], message: str
) -> None:
    with pytest.raises(cm.ConfigError, match=message):
        cm.plot.animate(**{"data": runs, **arguments})  # type: ignore[arg-type]


def test_mazes_refuse_what_they_cannot_show(walks: xr.Dataset) -> None:
    with pytest.raises(cm.ConfigError, match=r"run = 9 .*number of one of the runs"):
        cm.plot.animate(walks, run=9)
    with pytest.raises(cm.ConfigError, match="true_gradient"):
        cm.plot.animate(walks, true_gradient=walks)
    with pytest.raises(cm.ConfigError, match="two recorded times"):
        cm.plot.animate(walks.isel(time=[0]))


def test_files_that_cannot_be_written_are_named(runs: xr.Dataset, tmp_path: Path) -> None:
    film = cm.plot.animate(runs, frames=2, dpi=20)
    for wrong in ("film.mp4", tmp_path / "no" / "such" / "film.gif", 3, "a\0.gif"):
        with pytest.raises((cm.ConfigError, cm.ConfigTypeError), match="file"):
            film.save(wrong)  # type: ignore[arg-type]
    assert repr(film) == f"<Animation of 2 frames, {film.frames[0].width} × 70, 6 s>"


def test_films_are_bounded() -> None:
    exp = cm.Experiment(
        cm.Bandit([1.0, 0.5, 0.0]), cm.Softmax(), cm.Natural(0.1), steps=4,
        record=cm.Record("policy", every=1),
    )  # fmt: skip
    data = cm.run(exp, runs=2, rng=0)
    with pytest.raises(cm.ConfigError, match=r"seconds = 10000\.0"):
        cm.plot.animate(data, frames=2, seconds=1e4)
    with pytest.raises(cm.ConfigError, match=r"dpi = 600\.0"):
        cm.plot.animate(data, frames=500, dpi=600)
    film = cm.plot.animate(data, frames=2, seconds=600, dpi=20)
    assert film.gif()[:6] == b"GIF89a"
