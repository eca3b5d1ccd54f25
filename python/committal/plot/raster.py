"""Pictures of pixels in few bytes: a palette instead of sixteen million colours, and thumbnails."""

from __future__ import annotations

from io import BytesIO

from PIL import Image

_COLOURS = 256


def packed(png: bytes, *, dpi: float) -> bytes:
    """Return the same picture with a palette; the same bytes for the same picture.

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
    few = picture.quantize(colours, dither=Image.Dither.NONE)
    few.save(buffer, "png", optimize=True, dpi=(dpi, dpi))
    return buffer.getvalue()
