"""The report: one HTML file that needs nothing else.

Pictures are inside of it, there is no script, and nothing is fetched from anywhere. It opens with
all of them, small, each with its verdicts and a link. It reads at the width of a phone: text and
tables reflow, and pictures, which have several panels in a row, can be moved sideways inside of
their own frame.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from pathlib import Path

from committal.paper.entry import Entry
from committal.paper.figure import Table
from committal.paper.mathematics import mathematics
from committal.paper.output import write
from committal.paper.summary import counts
from committal.paper.verdicts import Verdict
from committal.plot.raster import thumbnail
from committal.support.provenance import versions

__all__ = ["REPORT"]

REPORT = "report.html"
#: The setting that is a command, and not mathematics.
COMMAND = "made by"

_TITLE, _AFTER_TITLE = "Beyond variance reduction, reproduced", "After the paper"
_AFTER_ID = "after"

_THUMB = 300  # pixels

_LONG = 20  # rows: a longer table is shown when asked for

_INTRODUCTION = (
    "This report repeats every figure of Beyond variance reduction: understanding the true "
    "impact of baselines on policy optimization (Chung, Thomas, Machado and Le Roux, arXiv "
    "2008.13773) and checks what the paper says of them by numbers. Each figure is drawn from as "
    "many runs as the paper drew, and measured again at high precision.",
    "A claim holds if the whole interval of what was measured lies where the claim puts it, fails "
    "if none of it does, and is undecided otherwise. A claim that differs does not come out under "
    "the settings used here, which is discussed beside its figure. Intervals are 95 % intervals: "
    "Wilson’s for fractions, normal ones for means. All settings of a figure see the same random "
    "numbers, and the runs that are drawn are the first ones of those that are measured.",
)
_AFTER = (
    "Since the paper its question has moved into the training of language models and into theory. "
    "These results repeat what was claimed there, each with its source, on problems that are "
    "small enough to be solved or to be run very often. What is marked as ours was derived and "
    "measured for this package and is not known to be in a paper. Numbers are compared with those "
    "of an implementation that shares no code with this one: rates and means within 4 standard "
    "errors, numbers without luck to 1e-6.",
)


def write_report(out: Path, entries: Sequence[Entry]) -> Path:
    """Write the report of what was made.

    Parameters
    ----------
    out : path
        Where the pictures are, and where the report goes.
    entries : sequence of Entry
        What was made, in the order of the report.

    Returns
    -------
    path
        The file.
    """
    file = out / REPORT
    write(file, html(out, entries).encode())
    return file


def html(out: Path, entries: Sequence[Entry]) -> str:
    """Return the report as text."""
    figures = [entry for entry in entries if entry.pictures and not entry.source]
    claims = [entry for entry in entries if not entry.pictures and not entry.source]
    after = [entry for entry in entries if entry.source]
    title = _TITLE if figures or claims else f"{_AFTER_TITLE}, reproduced"
    parts = [
        _HEAD.replace("@title@", title),
        f"<header><h1>{title}</h1>",
        _overview(entries),
        _contact_sheet(out, figures, claims, after),
        *(_paragraph(text) for text in _INTRODUCTION[0 if figures or claims else 1 :]),
        "</header>",
        *(_claims(entry) for entry in claims),
        *(_figure(out, entry) for entry in figures),
        *([f'<h1 id="{_AFTER_ID}">{_AFTER_TITLE}</h1>'] if after else []),
        *(_paragraph(text) for text in _AFTER if after),
        *(_figure(out, entry) for entry in after),
        _footer(entries),
        "</main></body></html>\n",
    ]
    return "\n".join(parts)


# -- parts of the page -----------------------------------------------------------------------------


def _overview(entries: Sequence[Entry]) -> str:
    found = counts(entries)
    badges = " ".join(
        f'<span class="badge {verdict}">{found[verdict]} {_PLURAL[verdict]}</span>'
        for verdict in Verdict
        if found[verdict]
    )
    return f'<p class="overview">{found.total()} findings: {badges}</p>'


def _contact_sheet(
    out: Path, figures: Sequence[Entry], claims: Sequence[Entry], after: Sequence[Entry]
) -> str:
    """Return every figure, small, with its verdicts, and links to the rest."""
    links = "".join(
        f'<p><a href="#{escape(entry.name)}">{mathematics(entry.title)}</a> {_dots(entry)}</p>'
        for entry in claims
    )
    below = f'<p><a href="#{_AFTER_ID}">{_AFTER_TITLE}</a></p>{_cards(out, after)}'
    return f"<nav>{links}{_cards(out, figures)}{below if after else ''}</nav>"


def _cards(out: Path, entries: Sequence[Entry]) -> str:
    if not entries:
        return ""
    cards = "".join(
        f'<a href="#{escape(entry.name)}">'
        f'<img class="thumb" alt="" src="{_source(thumbnail(_png(out, entry), _THUMB))}">'
        f"<span>{mathematics(_heading(entry))}</span> {_dots(entry)}</a>"
        for entry in entries
    )
    return f'<div class="sheet">{cards}</div>'


def _claims(entry: Entry) -> str:
    return "\n".join(
        [
            f'<section id="{escape(entry.name)}"><h2>{mathematics(entry.title)}</h2>',
            _paragraph(entry.says),
            _findings(entry),
            *map(_table, entry.tables),
            *_open_points(entry),
            *([_settings(entry)] if entry.settings else []),
            _made(entry),
            "</section>",
        ]
    )


def _figure(out: Path, entry: Entry) -> str:
    first, *others = entry.pictures
    return "\n".join(
        [
            f'<section id="{escape(entry.name)}"><h2>{mathematics(_heading(entry))}</h2>',
            _picture(out, *first),
            f"<h3>{'What is claimed' if entry.source else 'What the paper says'}</h3>",
            _paragraph(entry.says),
            *([_paragraph(f"Source: {entry.source}.")] if entry.source else []),
            *([_paragraph(f"Ours: {entry.own}")] if entry.own else []),
            "<h3>What was measured</h3>",
            _findings(entry),
            *(_picture(out, *other) for other in others),
            *map(_table, entry.tables),
            "<h3>Settings</h3>",
            _settings(entry),
            *_open_points(entry),
            _made(entry),
            "</section>",
        ]
    )


def _picture(out: Path, name: str, caption: str) -> str:
    source = _source((out / f"{name}.png").read_bytes())
    return (
        f'<figure><div class="frame" tabindex="0">'
        f'<img alt="{escape(name)}: {escape(caption)}" src="{source}"></div>'
        f"<figcaption>{mathematics(caption)}</figcaption></figure>"
    )


def _png(out: Path, entry: Entry) -> bytes:
    return (out / f"{entry.pictures[0][0]}.png").read_bytes()


def _source(png: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")


def _findings(entry: Entry) -> str:
    said = "claim" if entry.source else "paper"
    rows = "".join(
        "<tr>"
        f'<td data-label="quantity">{mathematics(each.what)}</td>'
        f'<td data-label="{said}">{mathematics(each.paper)}</td>'
        f'<td data-label="measured">{mathematics(each.measured)}</td>'
        f'<td data-label="verdict"><span class="badge {each.verdict}" '
        f'title="{escape(each.rule)}">{each.verdict}</span>'
        f'<span class="rule">{mathematics(each.rule)}</span></td>'
        "</tr>"
        for each in entry.findings
    )
    head = f"<tr><th>quantity</th><th>{said}</th><th>measured</th><th>verdict</th></tr>"
    return f'<table class="findings"><thead>{head}</thead><tbody>{rows}</tbody></table>'


def _table(table: Table) -> str:
    head = "".join(f"<th>{mathematics(name)}</th>" for name in table.header)
    body = "".join(
        "<tr>" + "".join(f"<td>{mathematics(cell)}</td>" for cell in row) + "</tr>"
        for row in table.rows
    )
    numbers = (
        f'<div class="frame" tabindex="0"><table class="numbers">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
    if len(table.rows) > _LONG:
        return f"<details><summary>{mathematics(table.title)}</summary>{numbers}</details>"
    return f"<h3>{mathematics(table.title)}</h3>{numbers}"


def _settings(entry: Entry) -> str:
    rows = "".join(f"<dt>{mathematics(k)}</dt><dd>{_value(k, v)}</dd>" for k, v in entry.settings)
    return f"<dl>{rows}</dl>"


def _value(name: str, value: str) -> str:
    return f"<code>{escape(value)}</code>" if name == COMMAND else mathematics(value)


def _open_points(entry: Entry) -> list[str]:
    if not entry.settled:
        return []
    items = "".join(f"<li>{mathematics(text)}</li>" for text in entry.settled)
    title = "What was found to differ, and what was settled"
    return [f"<h3>{title if entry.source else 'What the paper leaves open'}</h3><ul>{items}</ul>"]


def _made(entry: Entry) -> str:
    return (
        f'<p class="made">seed {escape(entry.entropy)} · computed in {entry.seconds:.1f} s · '
        f"drawn in {entry.drawing:.1f} s</p>"
    )


def _footer(entries: Sequence[Entry]) -> str:
    seconds = sum(entry.seconds + entry.drawing for entry in entries)
    version = escape(str(versions()["committal_version"]))
    return (
        f'<footer class="made">committal {version} · {len(entries)} parts · '
        f"{seconds:.0f} s in all · made by <code>committal reproduce</code></footer>"
    )


def _heading(entry: Entry) -> str:
    if entry.source:
        return f"{entry.name}: {entry.title}"
    if not entry.pictures:
        return entry.title
    return f"Figure {entry.name.removeprefix('fig')}: {entry.title}"


def _dots(entry: Entry) -> str:
    found = counts([entry])
    return " ".join(
        f'<span class="badge {verdict}">{found[verdict]} {_PLURAL[verdict]}</span>'
        for verdict in Verdict
        if found[verdict]
    )


def _paragraph(text: str) -> str:
    return f"<p>{mathematics(text)}</p>"


_PLURAL = {
    Verdict.HOLDS: "hold",
    Verdict.FAILS: "fail",
    Verdict.UNDECIDED: "undecided",
    Verdict.DIFFERS: "differ",
}

# Badges differ in their words and in their borders, not only in their colours.
_STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0; background: #fff; color: #1a1a1a;
  font: 16px/1.5 Georgia, "Times New Roman", serif; }
main { max-width: 74rem; margin: 0 auto; padding: 1rem; overflow-wrap: break-word; }
h1 { font-size: 1.8rem; line-height: 1.2; }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 2.5rem 0 .8rem; border-top: 1px solid #ccc;
  padding-top: 1rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .4rem; }
a { color: #0b5394; }
figure { margin: 1rem 0; }
.frame { overflow-x: auto; }
.frame img { display: block; width: 100%; height: auto; }
figcaption { font-size: .9rem; color: #333; margin-top: .4rem; }
table { border-collapse: collapse; font-size: .88rem; width: 100%;
  font-family: system-ui, "Segoe UI", Helvetica, Arial, sans-serif; }
th, td { text-align: left; vertical-align: top; padding: .3rem .5rem;
  border-bottom: 1px solid #ddd; }
table.numbers th { font-weight: 600; }
p, li, figcaption { max-width: 60rem; }
sup, sub { line-height: 0; font-size: .75em; }
code { font-size: .88em; overflow-wrap: anywhere; }
.sheet { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr));
  gap: .8rem; font-size: .85rem; line-height: 1.3; }
.sheet a { color: inherit; text-decoration: none; border: 1px solid #ccc; padding: .4rem;
  border-radius: .3rem; }
.sheet a:hover, .sheet a:focus { border-color: #0b5394; }
.sheet img { display: block; width: 100%; height: 5.5rem; object-fit: contain;
  margin-bottom: .3rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: 0;
  font-size: .9rem; }
dt { color: #555; } dd { margin: 0; overflow-wrap: anywhere; }
summary { font-weight: bold; margin: 1rem 0 .4rem; cursor: pointer; }
.rule { display: block; font-size: .78rem; color: #555; }
.made { font-size: .8rem; color: #555; }
.badge { display: inline-block; font: .78rem/1.4 system-ui, Helvetica, Arial, sans-serif;
  padding: 0 .45rem; border-radius: .6rem; border: 1px solid; white-space: nowrap; }
.badge.holds { background: #e3f1fb; border-color: #0072b2; color: #00476f; }
.badge.fails { background: #fbe5d6; border-color: #d55e00; color: #7a3600; border-width: 2px; }
.badge.undecided { background: #f3f3f3; border-color: #888; color: #444; border-style: dashed; }
.badge.differs { background: #fdf3d0; border-color: #a67c00; color: #5f4700; }
@media (max-width: 42rem) {
  body { font-size: 15px; } h1 { font-size: 1.45rem; }
  .frame img { width: 44rem; max-width: none; }
  table.numbers td, table.numbers th { white-space: nowrap; }
  dl { grid-template-columns: 1fr; } dt { margin-top: .3rem; }
  table.findings thead { display: none; }
  table.findings tr { display: block; border-bottom: 1px solid #bbb; padding: .4rem 0; }
  table.findings td { display: block; border: 0; padding: .1rem 0; }
  table.findings td::before { content: attr(data-label) ": "; color: #555; }
}
@media print { nav { display: none; } section { break-inside: avoid; } }
"""

_HEAD = f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>@title@</title>
<link rel="icon" href="data:,">
<style>{_STYLE}</style></head><body><main>"""
