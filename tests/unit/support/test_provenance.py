"""Who made a number is said in the same words by everything that is made."""

from __future__ import annotations

import json
from pathlib import Path

import committal as cm
from committal.study.store import chunks
from committal.support import provenance


def test_results_files_and_stores_say_the_same(three_arms: cm.Experiment, tmp_path: Path) -> None:
    study = cm.Study(three_arms, {"steps": [3, 4]}, runs=2, rng=7)
    datasets = (
        cm.run(three_arms.replace(steps=3), runs=2, rng=7),
        study.run(progress=False),
        study.run(tmp_path, progress=False),
        cm.open(tmp_path),
    )
    origin = provenance.origin(study.stream.key, study.stream.entropy)
    assert origin.items() >= provenance.versions().items()
    for data in datasets:
        assert data.attrs.items() >= origin.items()
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest.items() >= provenance.versions().items()
    assert manifest["study"]["key"] == origin["key"]
    for file in (tmp_path / "chunks").iterdir():
        facts, _ = chunks.decode(file.read_bytes())
        assert facts["stream_version"] == provenance.STREAM_VERSION
    assert provenance.build().items() >= provenance.versions().items()
