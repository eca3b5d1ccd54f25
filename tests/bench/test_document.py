"""Tables and picture of docs/benchmarks.md, from what the comparison writes."""

from __future__ import annotations

from typing import Any

import document
import picture
import pytest

WHO = ("committal avx512", "committal avx2", "Numba", "limit avx2", "committal avx2, one thread")


def report() -> dict[str, Any]:
    verdict = {"contest": "natural, value, K=3", "claim": "Numba / committal", "at_most": False}
    ratio = {"value": 12.345, "low": 12.0, "high": 13.0}
    call = {
        "contest": "cm.run, 1 x 1",
        "claim": "cm.run, s",
        "isa": "auto",
        "at_most": True,
        "ratio": {"value": 7e-4, "low": 7e-4, "high": 8e-4},
        "wanted": 1e-3,
        "met": True,
    }
    return {
        "machine": {
            "date": "2026-01-02",
            "processor": "P",
            "threads": 2,
            "compiler": "gcc 12",
            "numpy": "2",
            "numba": "0.6",
            "jax": None,
            "clock": "wall",
            "rounds": 9,
        },
        "contests": [
            {
                "name": f"natural, value, K={arms}",
                "unit": "ns",
                "times": dict.fromkeys(WHO, arms),
                "verdicts": [
                    verdict | {"isa": isa, "ratio": ratio, "wanted": floor, "met": met}
                    for isa, floor, met in (
                        ("generic", None, None),
                        ("avx2", 15, False),
                        ("avx512", 10, True),
                    )
                ],
            }
            for arms in (3, 100)
        ]
        + [{"name": "cm.run, 1 x 1", "unit": "ms", "times": {"cm.run": 0.7}, "verdicts": [call]}],
    }


def test_floors_say_what_was_missed() -> None:
    lines = document.floors(report()).splitlines()
    assert lines[2] == (
        "| natural, value, K=3 | Numba / committal | 12.3× (≥ 10) | 12.3× (≥ 15, **missed**) |"
    )
    assert lines[-1] == "| cm.run, 1 x 1 | itself | 0.70 ms (≤ 1) |  |"


def test_times_have_a_column_for_everybody_who_competed() -> None:
    lines = document.times(report()).splitlines()
    assert lines[0] == "| work | | ours, avx512 | ours, avx2 | Numba |"
    assert lines[2:] == [
        "| natural, value, K=3 | ns | 3.00 | 3.00 | 3.00 |",
        "| natural, value, K=100 | ns | 100 | 100 | 100 |",
    ]


def test_the_page_has_a_place_for_everything() -> None:
    page = document.PAGE.read_text(encoding="utf-8")
    for name in ("machine", "floors", "times"):
        assert f"<!-- {name} -->\nnew\n<!-- /{name} -->" in document.fill(page, name, "new")
    with pytest.raises(ValueError, match="'nothing' 0 times"):
        document.fill(page, "nothing", "new")


def test_the_picture_has_a_line_for_everybody() -> None:
    (ax,) = picture.draw(report()).axes
    lines = {line.get_label(): list(line.get_xdata()) for line in ax.lines}
    assert lines == {name: [3, 100] for name in ("ours, avx512", "ours, avx2", "Numba")}
