"""The notebooks: stored as they were written, without outputs, and run from top to bottom."""

from __future__ import annotations

import ast
import json
import warnings
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


def test_there_are_three() -> None:
    assert len(NOTEBOOKS) == 3
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(f"`{file.name}`" in listed for file in NOTEBOOKS)


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_is_stored_without_outputs(file: Path) -> None:
    # Outputs change with every version; the site and the tests make them.
    text = file.read_text(encoding="utf-8")
    made = json.loads(text)
    assert text == json.dumps(made, indent=1, ensure_ascii=False) + "\n"
    assert (made["nbformat"], made["nbformat_minor"]) == (4, 5)
    identities = [cell["id"] for cell in made["cells"]]
    assert len(set(identities)) == len(identities)
    for cell in made["cells"]:
        source = "".join(cell["source"])
        assert all(len(line) <= 105 for line in source.splitlines())
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None
            ast.parse(source)


def executed(notebook: Any, where: Path) -> Any:
    """Run a notebook in a kernel of its own."""
    nbclient = pytest.importorskip("nbclient")
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # of the packages that carry the messages
        nbclient.NotebookClient(
            notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": where}}
        ).execute()
    return notebook


def outputs(notebook: Any) -> list[list[Any]]:
    return [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.slow
@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_runs(file: Path, tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    made = nbformat.read(file, as_version=4)
    nbformat.validate(made)
    found = outputs(executed(made, tmp_path))
    shown = [output for cell in found for output in cell]
    assert not [o for o in shown if o.output_type == "error"]
    assert not [o.text for o in shown if o.output_type == "stream" and o.name == "stderr"]
    # A line of progress, if the machine is slow, and the result.
    assert max(len(cell) for cell in found) <= 3
    pages = [o.data["text/html"] for o in shown if "text/html" in o.get("data", {})]
    assert any("<iframe" in page for page in pages)
    # What is stored in a notebook is sent by mail.
    assert sum(len(json.dumps(o)) for o in shown) < 2_000_000


@pytest.mark.slow
def test_progress_is_one_line_of_a_real_notebook(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    code = """
import time
from committal.support.progress import Bar
with Bar("study", every=0.1) as bar:
    for done in range(30):
        bar(done, 30)
        time.sleep(0.05)
        if done == 20:
            print("shown")
"""
    folded = """
import committal as cm
cm.run(cm.Experiment(cm.Bandit([1, 0]), cm.Softmax(), cm.Natural(0.1), steps=3), runs=2, rng=0)
"""
    cells = [nbformat.v4.new_code_cell(text) for text in (code, folded)]
    progress, dataset = outputs(executed(nbformat.v4.new_notebook(cells=cells), tmp_path))
    assert [output.output_type for output in progress] == ["display_data", "stream"]
    assert progress[0].data == {"text/plain": "", "text/html": ""}
    before, _, _ = dataset[0].data["text/html"].rpartition("Attributes:")
    assert "checked" not in before.rpartition("<input")[2].partition(">")[0]
