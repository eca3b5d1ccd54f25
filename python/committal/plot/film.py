"""Frames one after the other: drawn by one figure, kept as a GIF or as a page that plays them.

The page holds its pictures and a small player, and loads nothing: it works without a network, as a
file and within a notebook.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from committal.errors import ConfigError
from committal.plot.raster import palette
from committal.support.files import path_of, write_whole
from committal.support.html import Html, escaped

# The last frame is what the others lead to: it stays longer.
_LAST = 1.5
_COLOURS = 256
# So many colours of large areas are kept; nearer ones, in levels of 256, count as one.
_AREAS, _NEAR = 64, 6
_CONTROLS = 56


@dataclass(frozen=True, eq=False)
class Animation:
    """Frames with their times; a notebook plays them.

    Attributes
    ----------
    frames : tuple of PIL.Image.Image
        All of one size, with one palette.
    times : tuple of int
        The update that each shows.
    seconds : float
        From the first frame to the last.
    unit : str
        What the times count.
    """

    frames: tuple[Image.Image, ...]
    times: tuple[int, ...]
    seconds: float
    unit: str = "update"

    def __len__(self) -> int:
        return len(self.frames)

    def __repr__(self) -> str:
        width, height = self.frames[0].size
        return f"<Animation of {len(self)} frames, {width} × {height}, {self.seconds:g} s>"

    def _repr_html_(self) -> str:
        width, height = self.frames[0].size
        # A page of its own: what it calls its parts, and its script, stay inside.
        return Html(
            f'<iframe srcdoc="{escaped(self.html())}" sandbox="allow-scripts" title="animation" '
            f'style="width:{width + 4}px;max-width:100%;height:{height + _CONTROLS}px;border:0">'
            "</iframe>"
        )

    @property
    def _milliseconds(self) -> list[int]:
        # A GIF counts hundredths of a second.
        each = max(10 * round(100.0 * self.seconds / len(self)), 20)
        return [each] * (len(self) - 1) + [max(each, round(1000 * _LAST))]

    def gif(self) -> bytes:
        """Return the animation as a GIF that repeats.

        Examples
        --------
        >>> film = Animation((Image.new("P", (4, 4)), Image.new("P", (4, 4), 1)), (0, 1), 1.0)
        >>> film.gif()[:6]
        b'GIF89a'
        """
        buffer = BytesIO()
        first, *rest = self.frames
        first.save(
            buffer, "gif", save_all=True, append_images=rest, duration=self._milliseconds, loop=0,
            optimize=False, disposal=1,
        )  # fmt: skip
        return buffer.getvalue()

    def html(self) -> str:
        """Return a page with a player: play, pause, step, any frame, at the keyboard as well.

        Examples
        --------
        >>> film = Animation((Image.new("P", (4, 4)), Image.new("P", (4, 4), 1)), (0, 1), 1.0)
        >>> "http" in film.html()
        False
        """
        width, height = self.frames[0].size
        return _PAGE % {
            "width": width,
            "height": height,
            "last": len(self) - 1,
            "frames": json.dumps([_encoded(frame) for frame in self.frames]),
            "times": json.dumps([f"{self.unit} {time}" for time in self.times]),
            "wait": json.dumps(self._milliseconds),
        }

    def save(self, file: str | PathLike[str]) -> Path:
        """Write it as the name says, ``.gif`` or ``.html``; it is there whole, or not at all.

        Raises
        ------
        ConfigError
            If the name has another ending, or the file cannot be written.

        Examples
        --------
        >>> film = Animation((Image.new("P", (4, 4)),), (0,), 1.0)
        >>> film.save("film.mp4")
        Traceback (most recent call last):
            ...
        committal.errors.ConfigError: file = 'film.mp4' is not allowed; expected a name ending in \
.gif or .html
        """
        path = path_of("file", file)
        kind = path.suffix.lower()
        if kind not in (".gif", ".html"):
            raise ConfigError("file", str(path), "a name ending in .gif or .html")
        data = self.gif() if kind == ".gif" else self.html().encode()
        try:
            write_whole(path, data)
        except OSError as error:
            why = f"a file that can be written ({error.strerror})"
            raise ConfigError("file", str(path), why) from None
        return path


def filmed(
    figure: Figure,
    draw: Callable[[int], Iterable[Artist]],
    times: Sequence[int],
    *,
    seconds: float,
    dpi: float,
    unit: str,
) -> Animation:
    """Draw one frame after the other.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        With everything that moves where it is at the end, so that there is room for it.
    draw : callable
        Puts what moves where it is at a time, and returns all of it, also what stands still in
        front of something that moves.
    times : sequence of int
        Of the frames.
    seconds, dpi : float
        How long, and how large.
    unit : str
        What the times count.
    """
    figure.set_dpi(dpi)
    canvas: Any = FigureCanvasAgg(figure)  # most of it has no type hints
    canvas.draw()
    figure.set_layout_engine("none")  # the places have been found; they must not move
    # What never changes is drawn once.
    for artist in draw(times[0]):
        artist.set_animated(True)
    canvas.draw()
    still = canvas.copy_from_bbox(figure.bbox)
    seen: list[Image.Image] = []
    for time in times:
        canvas.restore_region(still)
        for artist in sorted(draw(time), key=lambda artist: artist.get_zorder()):
            artist.draw(canvas.get_renderer())
        seen.append(Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3].copy()))
    return Animation(tuple(_packed(seen)), tuple(times), seconds, unit)


def in_front(ax: Axes) -> list[Artist]:
    """Return all that is drawn in axes, but their lowest image."""
    return [*ax.images[1:], *ax.lines, *ax.collections, *ax.texts]


def _packed(seen: Sequence[Image.Image]) -> Iterable[Image.Image]:
    """Give all frames one palette, of the colours that some of them have."""
    some = [np.asarray(seen[round(share * (len(seen) - 1))]) for share in (0.0, 0.3, 0.6, 1.0)]
    together = np.vstack(some)
    rgb = together.reshape(-1, 3).astype(np.int64) @ np.array([1 << 16, 1 << 8, 1])
    packed, counts = np.unique(rgb, return_counts=True)
    large = packed[np.argsort(-counts, kind="stable")[:_AREAS]]
    others = palette(Image.fromarray(together), _COLOURS).getpalette() or []
    # Large areas keep their colour exactly; what is almost one of them is it.
    chosen: list[npt.NDArray[np.int64]] = []
    areas = np.stack([large >> 16, large >> 8 & 255, large & 255], axis=1)
    for colour in (*areas, *np.array(others, np.int64).reshape(-1, 3)):
        if all(np.abs(colour - other).max() > _NEAR for other in chosen):
            chosen.append(colour)
    colours = Image.new("P", (1, 1))
    colours.putpalette(np.array(chosen[:_COLOURS]).ravel().tolist())
    for frame in seen:
        yield frame.quantize(palette=colours, dither=Image.Dither.NONE)


def _encoded(frame: Image.Image) -> str:
    buffer = BytesIO()
    frame.save(buffer, "png", optimize=True)
    return base64.b64encode(buffer.getvalue()).decode()


# All pictures are there before the first is shown. Who asked for less motion sees the last one.
_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>animation</title>
<meta name="viewport" content="width=device-width">
<style>
:root { color-scheme: light dark; font: 14px sans-serif; }
body { margin: 0; }
#film { max-width: %(width)dpx; }
canvas { width: 100%%; display: block; background: white; }
#bar { display: flex; gap: 0.6em; align-items: center; padding: 0.4em; }
#at { flex: 1; min-width: 3em; }
#time { min-width: 7.5em; text-align: right; font-variant-numeric: tabular-nums; }
</style></head><body>
<div id="film"><canvas id="picture" width="%(width)d" height="%(height)d"></canvas>
<div id="bar"><button id="play" aria-label="play or pause">play</button>
<input id="at" type="range" min="0" max="%(last)d" value="0" aria-label="frame">
<output id="time"></output></div></div>
<script>
"use strict";
const frames = %(frames)s, times = %(times)s, wait = %(wait)s, last = %(last)d;
const find = id => document.getElementById(id);
const picture = find("picture").getContext("2d");
const start = () => {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) show(last);
  else { show(0); play(); }
};
let missing = frames.length;
const loaded = frames.map(data => {
  const image = new Image();
  image.onload = () => { missing -= 1; if (missing === 0) start(); };
  image.src = "data:image/png;base64," + data;
  return image;
});
let now = 0, timer = null;
function show(i) {
  now = (i + last + 1) %% (last + 1);
  find("at").value = now;
  find("time").textContent = times[now];
  picture.drawImage(loaded[now], 0, 0);
}
function pause() { clearTimeout(timer); timer = null; find("play").textContent = "play"; }
function tick() { timer = setTimeout(() => { show(now + 1); tick(); }, wait[now]); }
function play() { find("play").textContent = "pause"; tick(); }
find("play").onclick = () => timer === null ? play() : pause();
find("at").oninput = event => { pause(); show(Number(event.target.value)); };
document.onkeydown = event => {
  if (event.target.id === "at" && event.key !== " ") return;
  if (event.key === " " && event.target.id !== "play") find("play").onclick();
  else if (event.key === "ArrowRight") { pause(); show(now + 1); }
  else if (event.key === "ArrowLeft") { pause(); show(now - 1); }
  else return;
  event.preventDefault();
};
</script></body></html>
"""
