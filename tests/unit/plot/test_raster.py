"""A palette saves bytes and changes no colour that anybody sees."""

from __future__ import annotations

from io import BytesIO

import numpy as np
from PIL import Image

from committal.plot import sheet
from committal.plot.raster import packed


def test_a_rare_colour_is_kept() -> None:
    """A palette by frequency would draw the only purple line in the orange of the others."""
    figure, (ax,) = sheet.row("c")
    t = np.linspace(0.0, 1.0, 50)
    for i in range(4):
        ax.plot(t, t**i, color="#D55E00", alpha=0.5 + i / 10)
        ax.plot(t, 1 - t**i, color="#0072B2", alpha=0.5 + i / 10)
    ax.plot(t, 0 * t + 0.5, color="#CC79A7", linewidth=0.6)
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=200)
    whole = np.asarray(Image.open(buffer).convert("RGB"), np.int64)
    small = packed(buffer.getvalue(), dpi=200)
    again = np.asarray(Image.open(BytesIO(small)).convert("RGB"), np.int64)
    assert Image.open(BytesIO(small)).mode == "P"
    assert len(small) < 0.8 * len(buffer.getvalue())
    assert np.abs(whole - again).max() <= 32
    white = (whole == 255).all(axis=-1)
    assert (again[white] == 255).all()
    assert packed(buffer.getvalue(), dpi=200) == small


def test_smooth_colours_get_no_steps() -> None:
    ramp = np.zeros((200, 300, 3), np.uint8)
    ramp[..., 0] = np.linspace(0, 255, 300)
    ramp[..., 1] = np.linspace(0, 255, 200)[:, None]
    buffer = BytesIO()
    Image.fromarray(ramp).save(buffer, "png")
    again = Image.open(BytesIO(packed(buffer.getvalue(), dpi=200)))
    assert (np.asarray(again.convert("RGB")) == ramp).all()
