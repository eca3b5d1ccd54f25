"""Names that users gave, as letters in a picture."""

from __future__ import annotations

_HAIR_SPACE = "\u200a"


def literal(text: object) -> str:
    r"""Return a text that matplotlib draws as it stands.

    It takes what is between dollars as mathematics, and leaves labels that begin with ``_`` out of
    legends without a word.

    Examples
    --------
    >>> print(literal("5 $ and 6 $"))
    5 \$ and 6 \$
    >>> literal("_private")
    '\u200a_private'
    """
    plain = str(text).replace("$", r"\$")
    return _HAIR_SPACE + plain if plain.startswith("_") else plain


def axis_name(axis: object) -> str:
    """Return the name of an axis of a study in words.

    Examples
    --------
    >>> axis_name("step_size")
    'step size'
    """
    return literal(str(axis).replace("_", " ").strip())
