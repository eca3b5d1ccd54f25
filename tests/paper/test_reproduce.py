"""`committal reproduce`, from beginning to end with few runs."""

from __future__ import annotations

import base64
import json
import os
import re
import sys
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import committal as cm
from committal import paper
from committal.cli.app import app
from committal.paper import figures, registry, report, runner
from committal.paper.entry import Entry
from committal.paper.figures import projected
from committal.paper.mathematics import mathematics
from committal.paper.summary import write_claims

GUIDE = Path(__file__).parent.parent.parent / "docs" / "reproduction.md"
SOME_FIGURES = ("fig2", "figA9", "figA11")
RUNS = 110  # more than the paper's 100 and 40: there is a picture at high precision
#: That of figure A9 would be that of figure A8.
PICTURES = ("fig2", "fig2-precise", "figA9", "figA11", "figA11-precise")


def invoke(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["reproduce", *arguments])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    out = tmp_path_factory.mktemp("paper")
    done = invoke(*SOME_FIGURES, "--out", str(out), "--runs", str(RUNS), "--rng", "7")
    return out, done


class Page(HTMLParser):
    """Collects what the tests look at."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.sources: list[str] = []
        self.thumbs: list[str] = []
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        values = dict(attrs)
        if tag not in ("img", "meta", "link"):
            self.open.append(tag)
        if values.get("id"):
            self.ids.append(str(values["id"]))
        if values.get("href"):
            self.links.append(str(values["href"]))
        if values.get("src"):
            small = values.get("class") == "thumb"
            (self.thumbs if small else self.sources).append(str(values["src"]))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_every_picture_is_written_as_png_and_pdf(made: tuple[Path, Any]) -> None:
    out, done = made
    assert done.exit_code == 0, done.output
    for picture in PICTURES:
        assert (out / f"{picture}.png").read_bytes().startswith(b"\x89PNG")
        assert (out / f"{picture}.pdf").read_bytes().startswith(b"%PDF")
    assert {file.stem for file in out.glob("fig*.*")} == set(PICTURES)


def test_no_picture_is_made_twice(tmp_path: Path) -> None:
    shared = ("figA4", "figA5", "figA8", "figA9")
    list(paper.reproduce(shared, out=tmp_path, runs=50))
    pictures = {file.name: file.read_bytes() for file in tmp_path.glob("*.png")}
    assert {"figA4-precise.png", "figA8-precise.png"} < pictures.keys()
    assert len(set(pictures.values())) == len(pictures)


def test_the_summary_names_figures_numbers_and_verdicts(made: tuple[Path, Any]) -> None:
    _, done = made
    for name in SOME_FIGURES:
        assert re.search(rf"^{name} +\d+ findings:", done.output, re.MULTILINE)
        assert re.search(rf"^{name} +(holds|undecided) ", done.output, re.MULTILINE)
    assert f"of {RUNS})" in done.output
    assert "report.html" in done.output


def test_the_report_has_everything_and_needs_nothing(made: tuple[Path, Any]) -> None:
    out, _ = made
    text = (out / paper.REPORT).read_text(encoding="utf-8")
    page = Page(text)
    assert not page.open
    assert page.ids == list(SOME_FIGURES)
    assert {link for link in page.links if link.startswith("#")} == {
        f"#{name}" for name in SOME_FIGURES
    }
    # No script, no other file, no address.
    assert not page.tags & {"script", "iframe", "object", "embed"}
    assert all(link.startswith(("#", "data:")) for link in page.links)
    words = re.sub(r"data:image/png;base64,[A-Za-z0-9+/=]*", "", text)
    assert not re.search(r"http|//|url\(|@import", words)
    # Every picture is inside, and is the one on disk.
    stored = {(out / f"{picture.stem}.png").read_bytes() for picture in out.glob("*.png")}
    inside = {base64.b64decode(source.split(",")[1]) for source in page.sources}
    assert inside == stored
    assert len(page.sources) == len(PICTURES)
    # It opens with all figures, small, before anything else.
    assert len(page.thumbs) == len(SOME_FIGURES)
    assert sum(map(len, page.thumbs)) < 0.2 * sum(map(len, page.sources))
    assert page.links[1 : 1 + len(SOME_FIGURES)] == [f"#{name}" for name in SOME_FIGURES]
    assert text.index('class="sheet"') < text.index("This report repeats")
    for name in SOME_FIGURES:
        assert f"<code>committal reproduce {name} --runs {RUNS} --rng 7</code>" in text
        entry = json.loads((out / "entries" / f"{name}.json").read_text(encoding="utf-8"))
        for finding in entry["findings"]:
            assert f">{finding['verdict']}<" in text
        assert "seed 7" in text
    assert 'name="viewport"' in text


def test_a_second_call_is_instant(made: tuple[Path, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    out, _ = made

    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("made again")

    monkeypatch.setattr("committal.simulation.engine.Engine.compute", refuse)
    monkeypatch.setattr("committal.plot.sheet.save", refuse)
    start = time.perf_counter()
    again = list(paper.reproduce(SOME_FIGURES, out=out, runs=RUNS, rng=7))
    assert time.perf_counter() - start < 1.0
    assert all(entry.stored for entry in again)
    assert [entry.name for entry in again] == list(SOME_FIGURES)


def test_restyling_draws_but_does_not_compute(
    made: tuple[Path, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, _ = made
    before = (out / "figA9.png").read_bytes()

    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr("committal.simulation.engine.Engine.compute", refuse)
    monkeypatch.setattr(runner, "fingerprint", lambda scope: "restyled")
    (entry,) = paper.reproduce(["figA9"], out=out, runs=RUNS, rng=7)
    assert not entry.stored
    assert (out / "figA9.png").read_bytes() == before  # nothing was restyled after all


def test_a_lost_picture_is_drawn_again(made: tuple[Path, Any]) -> None:
    out, _ = made
    (out / "figA9.pdf").unlink()
    (entry,) = paper.reproduce(["figA9"], out=out, runs=RUNS, rng=7)
    assert not entry.stored
    assert (out / "figA9.pdf").is_file()


def test_every_file_is_written_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moved: set[Path] = set()
    synced: list[int] = []
    replace, fsync = os.replace, os.fsync

    def watched_replace(source: Path, target: Path) -> None:
        replace(source, target)
        moved.add(Path(target))

    monkeypatch.setattr(os, "replace", watched_replace)
    monkeypatch.setattr(os, "fsync", lambda handle: (synced.append(handle), fsync(handle)))
    list(paper.reproduce(["figA9"], out=tmp_path, runs=2))
    written = {file for file in tmp_path.rglob("*") if file.is_file()}
    assert {file.suffix for file in written} == {".chunk", ".html", ".json", ".md", ".pdf", ".png"}
    assert moved == written
    assert len(synced) == 2 * len(written)  # the file and its directory


def test_other_settings_make_other_results(made: tuple[Path, Any], tmp_path: Path) -> None:
    out, _ = made
    (entry,) = paper.reproduce(["figA9"], out=tmp_path, runs=RUNS, rng=8)
    kept = json.loads((out / "entries" / "figA9.json").read_text(encoding="utf-8"))
    assert entry.stamp != kept["stamp"]
    assert (tmp_path / "figA9.png").read_bytes() != (out / "figA9.png").read_bytes()


def test_the_table_of_claims(made: tuple[Path, Any]) -> None:
    out, _ = made
    lines = (out / paper.CLAIMS).read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith(tuple(f"| {x} " for x in SOME_FIGURES))]
    entries = [
        json.loads((out / "entries" / f"{name}.json").read_text(encoding="utf-8"))
        for name in SOME_FIGURES
    ]
    assert len(rows) == sum(len(entry["findings"]) for entry in entries)


def test_the_table_of_claims_is_escaped(tmp_path: Path) -> None:
    """b* ... b* would be emphasis in Markdown, <x> a tag, and a line break would end the row."""
    nasty = "b* − ½ and b*, <b>x</b>, |a_1|\nnext `code` [link](x)"
    found = paper.Finding(nasty, nasty, nasty, paper.Verdict.HOLDS, nasty)
    entry = Entry(
        "fig9", "t", "s", (), (), (found,), (), (), seconds=0.0, drawing=0.0, entropy="0", stamp=""
    )
    lines = write_claims(tmp_path, [entry]).read_text(encoding="utf-8").splitlines()
    assert len(lines) == 7
    for bare in re.findall(r"(?<!\\)[*<>`\[\]_]", lines[-1]):
        raise AssertionError(f"{bare} is not escaped")
    assert len(re.findall(r"(?<!\\)\|", lines[-1])) == 7
    text = report.html(tmp_path, [entry])
    assert "<b>x" not in text
    assert "&lt;b&gt;x" in text
    assert "b<sup>*</sup>" in text


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("V > b* - 1/2", "V &gt; b<sup>*</sup> − 1/2"),
        ("(1 - p - b)^2 / (p (1 - p))", "(1 − p − b)<sup>2</sup> / (p (1 − p))"),
        ("c < -1, |c| < 1, c >= 1", "c &lt; −1, |c| &lt; 1, c ≥ 1"),
        ("theta0 = -1", "θ<sub>0</sub> = −1"),
        ("alpha 0.05: 1.75e-15; > 1e6", "α 0.05: 1.75 · 10<sup>−15</sup>; &gt; 10<sup>6</sup>"),
        ("gradient, epigram, pipe", "gradient, epigram, pipe"),
        ("Softmax(theta0=[0.0, 3.0, 5.0])", "Softmax(theta0=[0.0, 3.0, 5.0])"),
    ],
)
def test_mathematics_is_set(words: str, page: str) -> None:
    assert mathematics(words) == page


def test_a_claim_that_fails_is_exit_code_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figure = registry.figure("figA9")
    lost = paper.Finding("x", "y", "z", paper.Verdict.FAILS, "never")
    monkeypatch.setattr(type(figure), "judge", lambda self, data: [lost])
    done = invoke("figA9", "--out", str(tmp_path), "--runs", "2")
    assert done.exit_code == 1
    assert "1 fail" in done.output
    assert ">fails<" in (tmp_path / paper.REPORT).read_text(encoding="utf-8")
    # And it does not forget.
    assert invoke("figA9", "--out", str(tmp_path), "--runs", "2").exit_code == 1


def test_list_names_every_figure_of_the_paper() -> None:
    done = invoke("--list")
    assert done.exit_code == 0
    names = [line.split()[0] for line in done.output.splitlines()]
    own = [f"fig{i}" for i in range(1, 5)] + [f"figA{i}" for i in range(1, 16)] + ["claims"]
    assert names == [*own, *registry.names("after")]
    assert registry.names() == tuple(own)  # what came after the paper is asked for by name


def test_json(made: tuple[Path, Any]) -> None:
    out, _ = made
    done = invoke("fig2", "--out", str(out), "--runs", str(RUNS), "--rng", "7", "--json")
    assert done.exit_code == 0
    (entry,) = json.loads(done.output)
    assert entry["name"] == "fig2"
    assert {finding["verdict"] for finding in entry["findings"]} <= {"holds", "undecided"}


def test_a_figure_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The recipe of the documentation, as it stands there, is found, made and reported."""
    recipe = re.search(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert recipe
    (tmp_path / "planted.py").write_text(recipe[1], encoding="utf-8")
    monkeypatch.setattr(figures, "__path__", [*figures.__path__, str(tmp_path)])
    try:
        assert registry.names()[-3:] == ("figA15", "figA16", "claims")
        (entry,) = paper.reproduce(["figA16"], out=tmp_path / "out", runs=300)
        assert [finding.verdict for finding in entry.findings] == [paper.Verdict.HOLDS]
        assert 'id="figA16"' in (tmp_path / "out" / paper.REPORT).read_text(encoding="utf-8")
        sys.modules["committal.paper.figures.planted"].FIGURES = projected.FIGURES
        with pytest.raises(cm.ConfigError, match=r"figA8.*no other figure"):
            registry.names()
    finally:
        del sys.modules["committal.paper.figures.planted"]


@pytest.mark.parametrize("name", registry.names())
def test_every_figure_says_what_it_is(name: str) -> None:
    figure = registry.figure(name)
    assert figure.name == name
    assert figure.title
    assert figure.says
    assert all(len(pair) == 2 for pair in figure.settings)


def test_mistakes_are_named(tmp_path: Path) -> None:
    with pytest.raises(cm.ConfigError, match="did you mean 'fig1'"):
        list(paper.reproduce(["fig1x"], out=tmp_path))
    with pytest.raises(cm.ConfigError, match="runs"):
        list(paper.reproduce(["fig3"], out=tmp_path, runs=0))
    (tmp_path / "file").write_text("")
    with pytest.raises(cm.ConfigError, match="out"):
        list(paper.reproduce(["fig3"], out=tmp_path / "file"))
    (tmp_path / "figA9.png").mkdir()
    with pytest.raises(cm.StoreError, match=r"figA9\.png"):
        list(paper.reproduce(["figA9"], out=tmp_path, runs=2))
