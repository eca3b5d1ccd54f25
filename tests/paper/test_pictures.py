"""What is on the pictures: panels, names, curves and numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import committal as cm
from committal import exact
from committal.paper import bandit_figure, bandit_pictures
from committal.paper.figures import rooms, variance
from committal.paper.figures.goals import FIGURE_A15
from committal.paper.figures.projected import FIGURE_A8, FIGURE_A9
from committal.paper.figures.rooms import FIGURE_4
from committal.paper.figures.square import FIGURE_A10
from committal.paper.figures.two_arms import FIGURE_2
from committal.paper.figures.variance import FIGURE_3
from committal.paper.lab import Lab
from committal.paper.verdicts import Estimate
from committal.plot import sheet
from committal.plot.corners import name_corners
from committal.plot.ends import COUNT
from committal.plot.fates import FAILED, REACHED, fates
from committal.plot.goal_simplex import goal_simplex
from committal.plot.levels import ends_below
from committal.plot.series import NONE_SEEN, Series, series
from committal.plot.sheet import Axes, Figure
from committal.plot.simplex import END, START, TRUE
from committal.plot.simplex_map import simplex_map


@pytest.fixture
def few(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("few"), rng=1, runs=8)


def drawn(figure: Figure) -> Figure:
    figure.savefig("/dev/null", format="png", dpi=50)
    return figure


def hexes(collection: object) -> set[str]:
    from matplotlib.colors import to_hex

    return {to_hex(colour).upper() for colour in collection.get_colors()}  # type: ignore[attr-defined]


def names(ax: Axes) -> list[str]:
    """Return what is written beside the paths, not the numbers of dots."""
    return [text.get_text() for text in ax.texts if text.get_gid() != COUNT]


def key_of(figure: Figure) -> list[str]:
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts()]


def test_figure_2(few: Lab) -> None:
    data = FIGURE_2.compute(few)
    (picture,) = FIGURE_2.pictures(data)  # eight runs are not worth a second one
    own = drawn(picture.draw())
    assert len(own.axes) == 3
    for ax, one in zip(own.axes, data.own, strict=True):
        blue, red, yellow = ax.collections
        stuck = one.seen.failures
        assert len(blue.get_paths()) == 8 - stuck
        assert len(red.get_paths()) + len(yellow.get_paths()) == stuck
        assert hexes(blue) <= {REACHED.upper()}
        assert hexes(red) <= {FAILED.upper()}
        assert ax.get_title().endswith(f"{stuck} of 8 below ½")
        mean = ax.get_lines()[0]
        assert mean.get_color() == "black"
        assert np.allclose(mean.get_ydata(), one.sample["value"].values.mean(axis=0))
    assert own.axes[0].get_ylabel() == r"value $J(\theta)$"
    assert all(ax.get_xlabel() == "update" for ax in own.axes)


def test_high_precision_shows_means_and_failures(tmp_path: Path) -> None:
    lab = Lab(tmp_path, rng=1, runs=200)
    data = FIGURE_2.compute(lab)
    _, picture = FIGURE_2.pictures(data)
    figure = drawn(picture.draw())
    value, entropy, failing = figure.axes
    assert failing.get_yscale() == "log"
    for one, line in zip(data.own, value.get_lines(), strict=True):
        assert np.allclose(line.get_ydata(), one.ensemble["value_mean"].values)
    assert len(entropy.get_lines()) == 3
    # Three curves, and a mark for what is known exactly.
    marks = [line for line in failing.get_lines() if line.get_marker() == "D"]
    exact_ones = [one.exact.estimate for one in data.own if one.exact is not None]
    assert [float(mark.get_ydata()[0]) for mark in marks] == exact_ones
    assert len(exact_ones) == 3
    # They stand beyond the last update, and carry their errors.
    assert all(mark.get_xdata()[0] > 1.0 for mark in marks)
    assert all(mark.get_transform() == sheet.blended(failing) for mark in marks)
    assert len(failing.containers) == 3
    below = figure.legends[1].get_texts()
    assert bandit_pictures.EXACT in [text.get_text() for text in below]


def test_stuck_is_not_the_same_as_not_finished(few: Lab) -> None:
    """Runs that end below the level are told apart: sure of another arm, or on their way."""
    (one, *_) = FIGURE_A8.compute(few)
    final = np.array([[1, 0, 0], [0, 1, 0], [0.3, 0.4, 0.3], [0, 0.98, 0.02], [0.005, 0.995, 0]])
    values = final @ [1.0, 0.7, 0.0]
    sample = one.sample.isel(run=slice(5)).copy(deep=True)
    sample["policy"].values[:, -1] = final
    sample["value"].values[:, -1] = values
    failed, moving = ends_below(sample, 0.9)
    assert moving is not None
    assert failed.tolist() == [False, True, True, True, True]
    assert moving.tolist() == [False, False, True, True, False]
    table = bandit_figure.outcome_table([replace(one, sample=sample)], 0.9, 5)
    cells = dict(zip(table.header, table.rows[0], strict=True))
    assert cells["below at the end, drawn"] == "4 of 5"
    assert cells["of these not finished"] == "2 of 4"
    figure = drawn(bandit_pictures.curves_row([replace(one, sample=sample)], 5, 0.9))
    assert [len(lines.get_paths()) for lines in figure.axes[0].collections] == [1, 2, 2]
    assert "below, not finished" in key_of(figure)
    figure = drawn(bandit_pictures.simplex_row([replace(one, sample=sample)], 5, 0.9))
    assert figure.axes[0].get_title().endswith(": 2 of 5 wrong, 2 late")
    assert [text.split(":")[0] for text in key_of(figure)[3:]] == ["wrong", "late"]


def test_exact_answers_carry_their_errors_and_stand_at_no_time_of_a_run(few: Lab) -> None:
    """b* + ½ is 0.017 % ± 0.02 %: a bare diamond claims more than is known."""
    outcomes = [
        replace(one, exact=Estimate(p, max(p - error, 0.0), p + error))
        for one, (p, error) in zip(
            FIGURE_A8.compute(few), [(0.4, 0.01), (1.7e-4, 2e-4), (1e-9, 1e-10)], strict=True
        )
    ]
    for one in outcomes:  # the last case has no failures at all
        if one is outcomes[-1]:
            one.ensemble["failures"].values[...] = 0
    figure = drawn(bandit_pictures.precise_row(outcomes, 0.9))
    failing = figure.axes[-1]
    bottom = failing.get_ylim()[0]
    bars = [container.lines[2][0].get_segments()[0] for container in failing.containers]
    np.testing.assert_allclose(bars[0][:, 1], [0.39, 0.41])
    np.testing.assert_allclose(bars[1][:, 1], [bottom, max(3.7e-4, bottom)])
    dotted = [line for line in failing.get_lines() if line.get_label() == NONE_SEEN]
    assert dotted
    bound = np.asarray(dotted[-1].get_ydata())
    assert np.all(bound > 0.1)  # of eight runs none: below 32 %


def test_figure_3_is_symmetric_and_has_the_meaning_of_the_paper(few: Lab) -> None:
    data = FIGURE_3.compute(few)
    figure = drawn(FIGURE_3.pictures(data)[0].draw())
    maps = [ax for ax in figure.axes if ax.name == "ternary"]
    assert len(maps) == 3
    assert len(figure.axes) == 4  # and the scale
    # It says which logarithm, that its colours end, and what it is: the companion looks alike.
    assert "natural logarithm" in figure.axes[-1].get_ylabel()
    assert maps[0].collections[0].colorbar.extend == "both"
    assert key_of(figure) == [variance.EQUAL]
    other = drawn(FIGURE_3.pictures(data)[1].draw())
    assert figure.get_suptitle() == "vanilla gradient"
    assert other.get_suptitle().startswith("natural gradient")
    for ax in maps:
        norm = ax.collections[0].norm
        assert norm.vmin == -norm.vmax == -variance.LIMIT
        assert ax.texts[0].get_text().startswith("arm 2")
    # Positive, where the second method has less variance, is blue; negative is red.
    red, _, _, _ = maps[0].collections[0].cmap(0.05)
    _, _, blue, _ = maps[0].collections[0].cmap(0.95)
    assert red > 0.3
    assert blue > 0.3


def test_figure_4_has_the_map_and_three_panels_with_bands(few: Lab) -> None:
    data = FIGURE_4.compute(few)
    figure = drawn(FIGURE_4.pictures(data)[0].draw())
    grid, *panels = figure.axes
    written = {text.get_text() for text in grid.texts}
    assert {"A\n0.6", "B\n0.3", "C\n1", "S"} <= written
    assert len(panels) == 3
    for ax in panels:
        assert len(ax.get_lines()) == len(ax.collections) == 5
        assert ax.get_xlabel() == "episode"
        assert ax.get_ylabel()
    legend = figure.legends[0]
    assert [text.get_text() for text in legend.get_texts()] == [
        r"baseline $b^* + \epsilon$:",  # what ε is
        *(rf"$\epsilon = {epsilon:g}$" for epsilon in rooms.PERTURBATIONS),
        "± 1 standard error",  # what the bands are
    ]


def test_runs_in_a_maze_that_still_move_are_not_stuck(few: Lab) -> None:
    (one, *_) = FIGURE_4.compute(few)
    sample = one.sample.isel(run=slice(3)).copy(deep=True)
    sample["value"].values[:, -1] = [0.8, 0.5, 0.5]
    sample["action_entropy"].values[:, -5:] = np.array([[1.0], [0.01], [0.5]])
    assert replace(one, sample=sample).below() == (2, 1, 3)
    table = FIGURE_4.tables([replace(one, sample=sample)])[0]
    cells = dict(zip(table.header, table.rows[0], strict=True))
    assert cells["drawn runs below 0.6"] == "2 of 3, 1 still moving"


def test_simplex_rows_have_corners_a_start_and_a_true_gradient(few: Lab) -> None:
    data = FIGURE_A8.compute(few)
    figure = drawn(FIGURE_A8.pictures(data)[0].draw())
    triangles = [ax for ax in figure.axes if ax.name == "ternary"]
    assert len(triangles) == 3
    assert len(figure.axes) == 4  # and the scale of time
    for ax, one in zip(triangles, data, strict=True):
        (paths,) = ax.collections
        assert len(paths.get_paths()) == 8 * (one.sample.sizes["time"] - 1)
        assert {text.split("\n")[0].split(",")[0] for text in names(ax)} == {
            "arm 1",
            "arm 2",
            "arm 3",
        }
        black = [line for line in ax.get_lines() if line.get_color() == "black"]
        assert len(black) == 2  # the true gradient and the start
        # Dots on each other are one circle with their number: every run is counted once.
        ends = next(line for line in ax.get_lines() if line.get_label() == END)
        numbers = [int(t.get_text()) for t in ax.texts if t.get_gid() == COUNT]
        assert len(ends.get_xdata()) + sum(numbers) == 8
        assert all(number > 1 for number in numbers)
        assert "of 8 wrong" in ax.get_title()
        # No panel gives way to what is beside it.
        assert ax.get_position().width > 0.2
    assert key_of(figure) == [TRUE, END, START, bandit_pictures.WRONG.format(0.9)]


def test_a_view_shows_the_same_runs_and_leaves_high_precision_to_its_figure(
    tmp_path: Path,
) -> None:
    lab = Lab(tmp_path, rng=1, runs=60)
    data = FIGURE_A9.compute(lab)
    assert all(
        one.sample is same.sample and one.ensemble is same.ensemble
        for one, same in zip(FIGURE_A8.compute(lab), data, strict=True)
    )
    assert [picture.name for picture in FIGURE_A8.pictures(data)] == ["figA8", "figA8-precise"]
    (curves,) = FIGURE_A9.pictures(data)
    assert curves.caption.endswith("At high precision: figure A8, of the same runs.")
    assert len(drawn(curves.draw()).axes) == 3


def test_figure_a10_counts_episodes(few: Lab) -> None:
    data = FIGURE_A10.compute(few)
    figure = drawn(FIGURE_A10.pictures(data)[0].draw())
    _, *panels = figure.axes
    for ax, one in zip(panels, data, strict=True):
        fraction = (one.goals["goal"].values == 1).mean(axis=1)
        last = [path.vertices[-1, 1] for lines in ax.collections for path in lines.get_paths()]
        # The last point of a curve is the fraction of all episodes but the one drawn at the end.
        assert np.allclose(np.sort(last), np.sort(fraction), atol=1e-3)
        assert ax.get_title().endswith("not optimal")
        assert [len(lines.get_paths()) for lines in ax.collections] == [
            np.sum(~one.failed),
            np.sum(one.failed & ~one.moving),
            np.sum(one.moving),
        ]


def test_figure_a10_tells_sure_of_the_other_goal_from_not_finished(few: Lab) -> None:
    (one, *_) = FIGURE_A10.compute(few)
    ends = one.ends.isel(run=slice(3)).copy(deep=True)
    # Goals A and B: the best, the other for sure, neither.
    ends["goal_probability"].values[:, -1] = [[0.1, 0.9], [0.995, 0.005], [0.6, 0.4]]
    told = replace(one, ends=ends)
    assert told.failed.tolist() == [False, True, True]
    assert told.moving.tolist() == [False, False, True]


def test_figure_a15_starts_where_the_uniform_policy_is(few: Lab) -> None:
    data = FIGURE_A15.compute(few)
    p = cm.evaluate(cm.maps.four_rooms()).goal_probability
    for one in data.outcomes:
        first = one.drawn["goal_probability"].isel(run=0, time=0).values
        assert np.allclose(first, p)
        assert one.share("A")[0, 0] == pytest.approx(p[0] / p.sum())
    figure = drawn(FIGURE_A15.pictures(data)[0].draw())
    ax = figure.axes[0]
    assert names(ax) == ["A (0.6)", "C (1.0)", "B (0.3)"]


# -- the functions of the plot package that the figures brought ------------------------------------


def test_style_does_not_last() -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    with sheet.style():
        assert mpl.rcParams["font.size"] == 7.5
    assert dict(mpl.rcParams) == before


def test_files_have_no_date(tmp_path: Path) -> None:
    contents = []
    for name in ("one", "two"):
        figure, (ax,) = sheet.row("c")
        ax.plot([0, 1])
        contents.append([file.read_bytes() for file in sheet.save(figure, tmp_path / name)])
    assert contents[0] == contents[1]


@pytest.mark.parametrize("kinds", ["", "x", "cx"])
def test_rows_refuse_unknown_panels(kinds: str) -> None:
    with pytest.raises(cm.ConfigError, match="kinds"):
        sheet.row(kinds)


def test_panels_of_curves_can_share_their_axis() -> None:
    _, (_, first, second) = sheet.row("gcc", share_y=True)
    first.set_ylim(3, 4)
    assert second.get_ylim() == (3, 4)


def test_logarithmic_bands_do_not_reach_zero() -> None:
    _, (ax,) = sheet.row("c")
    t = np.arange(4.0)
    middle = np.array([1.0, 0.1, 0.01, 0.0])
    series(ax, [Series("x", "black", t, middle, np.zeros(4), middle + 0.1)], log=True, legend=True)
    assert ax.get_yscale() == "log"
    curve, bound = ax.get_lines()
    assert np.isnan(curve.get_ydata()).tolist() == [False] * 3 + [True]
    # Zero is drawn as what it says: less than the upper end.
    assert bound.get_xdata().tolist() == [3.0]
    assert bound.get_ydata().tolist() == [0.1]
    assert bound.get_marker() == "v"
    assert ax.get_ylim()[0] > 1e-4
    assert ax.get_legend() is not None


def test_fates_refuse_what_does_not_fit() -> None:
    _, (ax,) = sheet.row("c")
    with pytest.raises(cm.ConfigError, match="curves"):
        fates(ax, [0, 1], [[0, 1]], [True, False])


def test_fates_draw_no_more_than_asked() -> None:
    _, (ax,) = sheet.row("c")
    fates(ax, [0, 1], np.zeros((5, 2)), np.ones(5, bool), max_runs=3, mean=False)
    assert sum(len(lines.get_paths()) for lines in ax.collections) == 3
    assert not ax.get_lines()


def test_simplex_maps_refuse_other_axes_and_shapes() -> None:
    _, (flat, triangle) = sheet.row("cs")
    with pytest.raises(cm.ConfigError, match="ternary"):
        simplex_map(flat, np.eye(3), np.zeros(3))
    with pytest.raises(cm.ConfigError, match="ternary"):
        name_corners(flat, ("a", "b", "c"))
    with pytest.raises(cm.ConfigError, match="policies"):
        simplex_map(triangle, np.eye(3), np.zeros(2))


def test_infinite_ratios_are_drawn_at_the_end_of_the_scale() -> None:
    _, (ax,) = sheet.row("s")
    policies = exact.simplex_grid(4)
    values = np.linspace(-2.0, 1.0, len(policies))
    values[0] = np.inf
    colours = simplex_map(ax, policies, values)
    assert colours.norm.vmax == pytest.approx(np.abs(values[1:]).max())
    assert np.isfinite(colours.get_array()).all()
    # NaN has no colour: painted as 0 it would say that nothing differs.
    values[1] = np.nan
    with pytest.raises(cm.ConfigError, match="values = '1 NaN'"):
        simplex_map(ax, policies, values)


def test_goal_paths_refuse_what_they_cannot_draw() -> None:
    exp = cm.Experiment(
        cm.maps.four_rooms(),
        cm.Softmax(),
        cm.Vanilla(0.1),
        0.0,
        estimator=cm.Reinforce(),
        steps=2,
        record=cm.Record("goal_probability", every=1),
    )
    data = cm.run(exp, runs=2, rng=0)
    with pytest.raises(cm.ConfigError, match="corners"):
        goal_simplex(data, corners=("A", "B", "X"))
    with pytest.raises(cm.ConfigError, match="goal_probability"):
        goal_simplex(data.drop_vars("goal_probability"), corners=("A", "B", "C"))
    with pytest.raises(cm.ConfigTypeError, match="dataset"):
        goal_simplex(3, corners=("A", "B", "C"))  # type: ignore[arg-type]
