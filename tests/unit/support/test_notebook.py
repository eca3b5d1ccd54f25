"""What is different in a notebook: one line of progress, and results with folded attributes."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace
from typing import Any

import pytest
import xarray as xr

import committal as cm
from committal.support import notebook
from committal.support.progress import Bar


class Formatter:
    """As IPython's: printers by class."""

    def __init__(self) -> None:
        self.printers: dict[type, Any] = {}

    def for_type(self, cls: type, printer: Any = None) -> Any:
        before = self.printers.get(cls)
        if printer is not None:
            self.printers[cls] = printer
        return before


class Notebook:
    """An IPython that keeps what it was given to show, message by message."""

    def __init__(self) -> None:
        self.made: list[dict[str, str]] = []
        self.updates: list[dict[str, str]] = []
        self.html = Formatter()
        self.kernel = object()
        self.display_formatter = SimpleNamespace(formatters={"text/html": self.html})

    def display(self, data: dict[str, str], *, raw: bool, display_id: bool) -> Any:
        assert raw
        assert display_id
        self.made.append(data)
        return SimpleNamespace(update=lambda data, raw: self.updates.append(data))


@pytest.fixture
def ipython(monkeypatch: pytest.MonkeyPatch) -> Notebook:
    made = Notebook()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: made))  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=made.display))  # type: ignore[arg-type]
    return made


def test_a_bar_writes_over_one_line(ipython: Notebook, capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    with Bar("<study>", every=1.0, clock=lambda: now[0]) as bar:
        for tick in range(1000):
            now[0] = tick / 100
            bar(tick, 1000)
    assert len(ipython.made) == 1
    # Nine and a half seconds, four lines a second, and the end, which leaves nothing.
    assert 30 <= len(ipython.updates) <= 40
    assert ipython.made[0]["text/plain"] == "<study>   5 %  100 updates/s  0:10 left"
    assert "&lt;study&gt;" in ipython.made[0]["text/html"]
    assert 'value="0.0500"' in ipython.made[0]["text/html"]
    assert ipython.updates[-1] == {"text/plain": "", "text/html": ""}
    assert capsys.readouterr() == ("", "")


def test_a_quick_job_shows_nothing(ipython: Notebook) -> None:
    now = [0.0]
    with Bar("study", clock=lambda: now[0]) as bar:
        for tick in range(40):
            now[0] = tick / 100
            bar(tick, 40)
    assert ipython.made == []


def test_a_stream_that_is_given_is_used(ipython: Notebook) -> None:
    stream, now = io.StringIO(), [0.0]
    with Bar("study", stream=stream, every=1.0, clock=lambda: now[0]) as bar:
        bar(0, 10)
        now[0] = 2.0
        bar(5, 10)
    assert stream.getvalue() == "study  50 %  2 updates/s  0:02 left\n"
    assert ipython.made == []


def test_a_terminal_with_ipython_is_no_notebook(ipython: Notebook) -> None:
    assert notebook.shell() is ipython
    ipython.kernel = None
    assert notebook.shell() is None


def test_attributes_of_results_are_folded(ipython: Notebook, three_arms: cm.Experiment) -> None:
    short = three_arms.replace(steps=2)
    data = cm.run(short, runs=2, rng=0)
    sweep = cm.Study(short, {"steps": [2, 3]}, runs=2, rng=0).run(progress=False)
    arrays = cm.from_arrays(values=[[0.5, 1.0]], experiment=short)
    shown = ipython.html.printers[xr.Dataset]
    for ours in (data, sweep, arrays, data.isel(run=0)):
        assert not attributes_are_open(shown(ours))
    other = xr.Dataset(attrs={"title": "mine"})
    assert attributes_are_open(shown(other))
    assert attributes_are_open(data._repr_html_()), "the test looks at the wrong thing"
    with xr.set_options(display_expand_attrs=True):
        assert attributes_are_open(shown(data))
    assert xr.get_options()["display_expand_attrs"] == "default"


def attributes_are_open(page: str) -> bool:
    """Whether the box in front of the attributes is checked."""
    before, found, _ = page.rpartition("Attributes:")
    assert found
    return "checked" in before.rpartition("<input")[2].partition(">")[0]


def test_a_choice_of_the_user_stays(ipython: Notebook, three_arms: cm.Experiment) -> None:
    ipython.html.for_type(xr.Dataset, str)
    cm.run(three_arms.replace(steps=2), runs=2, rng=0)
    assert ipython.html.printers[xr.Dataset] is str
