"""Shapes: what a formula's number is one of.

A number per run, a vector over arms, a vector over samples, or arms of every sample.
"""

from __future__ import annotations

__all__ = ["ARM", "AXES", "RUN", "SAMPLE", "SAMPLE_ARM", "WORDS", "axes_of", "joined", "shape_of"]

RUN, ARM, SAMPLE, SAMPLE_ARM = "run", "arm", "sample", "sample_arm"

#: The axes that a reduction may go over, in the order of arrays: samples before arms.
AXES = ("samples", "arms")

_AXES = {
    RUN: frozenset[str](),
    ARM: frozenset({"arms"}),
    SAMPLE: frozenset({"samples"}),
    SAMPLE_ARM: frozenset(AXES),
}
_SHAPES = {axes: shape for shape, axes in _AXES.items()}

#: For messages.
WORDS = {
    RUN: "one number",
    ARM: "a vector over arms",
    SAMPLE: "a vector over samples",
    SAMPLE_ARM: "a vector over arms for every sample",
}


def axes_of(shape: str) -> frozenset[str]:
    """The axes of a shape.

    Examples
    --------
    >>> sorted(axes_of("sample_arm"))
    ['arms', 'samples']
    """
    return _AXES[shape]


def shape_of(axes: frozenset[str]) -> str:
    """The shape that has these axes.

    Examples
    --------
    >>> shape_of(frozenset())
    'run'
    """
    return _SHAPES[axes]


def joined(*shapes: str) -> str:
    """The shape of an operation between numbers of these shapes.

    Examples
    --------
    >>> joined("run", "arm"), joined("arm", "sample")
    ('arm', 'sample_arm')
    """
    axes: frozenset[str] = frozenset().union(*(_AXES[shape] for shape in shapes))
    return _SHAPES[axes]
