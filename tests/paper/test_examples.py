"""The examples run, print something and write their picture."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
FEW = {"phase_diagram": {"runs": 20, "points": 6}, "your_map": {"runs": 8}}


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.py")), ids=lambda file: file.stem)
def test_example(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main(tmp_path, **FEW.get(file.stem, {"runs": 100}))
    plt.close("all")
    assert capsys.readouterr().out
    assert (tmp_path / f"{file.stem}.png").read_bytes().startswith(b"\x89PNG")
    assert len(file.read_text(encoding="utf-8").splitlines()) < 70


def test_there_are_nine() -> None:
    assert len(list(EXAMPLES.glob("*.py"))) == 9
