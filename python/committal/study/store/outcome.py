"""Where every configuration of a study stopped that stops when it is precise enough."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from committal.errors import StoreError
from committal.study.store.store import Store

OUTCOME = "outcome.json"

Outcome = dict[str, Any]


def write_outcome(store: Store, outcome: Mapping[str, Any]) -> None:
    """Write where every configuration stopped; it names the study, and carries a checksum."""
    store.write_sealed(OUTCOME, {**outcome, "study": store.manifest["hash"]})


def read_outcome(store: Store, configurations: int) -> tuple[Outcome | None, str]:
    """Read where every configuration stopped.

    Parameters
    ----------
    store : Store
        Where to look.
    configurations : int
        How many there are.

    Returns
    -------
    dict or None, str
        None if it is not there, if it answers another question to the same study, or if it is
        damaged; what is wrong with it, nothing if nothing is.
    """
    try:
        found = store.read_sealed(OUTCOME)
    except StoreError as error:
        return None, error.problem
    if found is None:
        return None, ""
    if found.pop("study", None) != store.manifest["hash"]:
        return None, "it belongs to another study"
    if not _makes_sense(found, configurations, store.manifest["runs"]):
        return None, "it makes no sense"
    return (found if found["until"] == store.manifest["until"] else None), ""


def _makes_sense(outcome: Outcome, configurations: int, runs: int) -> bool:
    names = ("runs", "estimate", "low", "high", "reached")
    lists = [outcome.get(name) for name in names]
    if "until" not in outcome or not all(
        isinstance(values, list) and len(values) == configurations for values in lists
    ):
        return False
    return all(
        type(count) is int
        and 0 <= count <= runs
        and (estimate is None or _is_number(estimate))
        and _is_number(low)
        and _is_number(high)
        and low <= high
        and type(reached) is int
        and reached in (0, 1)
        for count, estimate, low, high, reached in zip(*lists, strict=True)
    )


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]
