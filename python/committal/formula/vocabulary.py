"""The vocabulary: everything that a formula may do, by name."""

from __future__ import annotations

from committal.formula.derived import DERIVED
from committal.formula.operations import OPERATIONS
from committal.formula.rows import (
    ATOM,
    AXIS,
    COMPARE,
    COUNTS,
    POWER,
    PRODUCT,
    ROWS,
    SIGN,
    SUM,
    Floats,
    Row,
    apply,
)

__all__ = [
    "ATOM",
    "AXIS",
    "COMPARE",
    "COUNTS",
    "POWER",
    "PRODUCT",
    "ROWS",
    "SIGN",
    "SUM",
    "Floats",
    "Row",
    "apply",
]

ROWS.update({row.name: row for row in (*OPERATIONS, *DERIVED)})
