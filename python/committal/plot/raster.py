"""Pictures of pixels in few bytes: a palette instead of sixteen million colours, and thumbnails."""

from __future__ import annotations

from io import BytesIO

import numpy as np
from PIL import Image

_COLOURS = 256
# Levels of 256: colours that are nearer count as one when a palette is chosen.
_NEAR = 12
# A palette must not change more than this share of the pixels by more than so many levels.
_SEEN, _SHARE = 4, 0.1


def packed(png: bytes, *, dpi: float) -> bytes:
    """Return the same picture with a palette; the same bytes for the same picture.

    The palette is chosen from the colours that there are, each counted once: a single thin line
    keeps its colour among a million white pixels.

    Examples
    --------
    >>> from committal.plot import sheet
    >>> figure, (ax,) = sheet.row("c")
    >>> _ = ax.plot([0, 1])
    >>> buffer = BytesIO()
    >>> figure.savefig(buffer, format="png")
    >>> len(packed(buffer.getvalue(), dpi=100)) < len(buffer.getvalue())
    True
    """
    return _encoded(Image.open(BytesIO(png)).convert("RGB"), _COLOURS, dpi)


def thumbnail(png: bytes, width: int) -> bytes:
    """Return a small copy of a picture.

    Examples
    --------
    >>> buffer = BytesIO()
    >>> Image.new("RGB", (1540, 440)).save(buffer, "png")
    >>> Image.open(BytesIO(thumbnail(buffer.getvalue(), 308))).size
    (308, 88)
    """
    whole = Image.open(BytesIO(png)).convert("RGB")
    size = (width, max(1, round(whole.height * width / whole.width)))
    return _encoded(whole.resize(size, Image.Resampling.LANCZOS), 64, 96.0)


def _encoded(picture: Image.Image, colours: int, dpi: float) -> bytes:
    buffer = BytesIO()
    few = picture.quantize(palette=palette(picture, colours), dither=Image.Dither.NONE)
    apart = np.abs(np.asarray(few.convert("RGB"), np.int64) - np.asarray(picture, np.int64))
    if colours == _COLOURS and (apart.max(axis=-1) > _SEEN).mean() > _SHARE:
        few = picture  # a map of smooth colours: steps would be lines that are not there
    few.save(buffer, "png", optimize=True, dpi=(dpi, dpi))
    return buffer.getvalue()


def palette(picture: Image.Image, colours: int) -> Image.Image:
    """Choose colours for a picture, as an image that has nothing but its palette.

    Examples
    --------
    >>> len(palette(Image.new("RGB", (4, 4), "red"), 16).getpalette()) <= 3 * 16
    True
    """
    # One number per colour: sorting rows would take ten times as long.
    rgb = np.asarray(picture).reshape(-1, 3).astype(np.int32) // _NEAR
    packed_cells = np.unique(rgb @ np.array([1 << 16, 1 << 8, 1], np.int32))
    cells = np.stack([packed_cells >> 16, packed_cells >> 8 & 255, packed_cells & 255], axis=1)
    there = np.minimum(cells.astype(np.int64) * _NEAR + _NEAR // 2, 255).astype(np.uint8)
    chosen = Image.fromarray(there[None]).quantize(colours - 2, kmeans=8, dither=Image.Dither.NONE)
    found = np.array(chosen.getpalette(), np.uint8).reshape(-1, 3)
    # White and black are what most pixels are: what is almost one of them is it.
    found[(found >= 256 - _NEAR).all(axis=1)] = 255
    found[(found < _NEAR).all(axis=1)] = 0
    palette = Image.new("P", (1, 1))
    palette.putpalette([*found[: colours - 2].ravel().tolist(), 255, 255, 255, 0, 0, 0])
    return palette
