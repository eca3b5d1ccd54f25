"""Progress where there is no terminal: lines, now and then, to who listens."""

from __future__ import annotations

import io
import logging

import pytest

import committal as cm
from committal.support.progress import Bar


def test_lines_come_every_so_often() -> None:
    stream, now = io.StringIO(), [0.0]
    with Bar("study", stream=stream, every=30.0, clock=lambda: now[0]) as bar:
        for second in range(100):
            now[0] = float(second)
            bar(second, 200)
    lines = stream.getvalue().splitlines()
    assert lines == [
        "study  15 %  1 updates/s  2:50 left",
        "study  30 %  1 updates/s  2:20 left",
        "study  45 %  1 updates/s  1:50 left",
    ]


def test_lines_go_to_logging_where_somebody_listens(caplog: pytest.LogCaptureFixture) -> None:
    stream, now = io.StringIO(), [0.0]
    with caplog.at_level(logging.INFO, "committal"):
        bar = Bar("study", stream=stream, every=1.0, clock=lambda: now[0])
        bar(0, 10)
        now[0] = 2.0
        bar(5, 10)
    assert stream.getvalue() == ""
    assert caplog.messages == ["study  50 %  2 updates/s  0:02 left"]


def test_a_study_tells_what_happens(
    three_arms: cm.Experiment, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "committal"):
        study = cm.Study(three_arms.replace(steps=10), runs=128, rng=0)
        study.run(chunk=64, progress=False)
    texts = [text.removeprefix(study.hash[:12] + ": ") for text in caplog.messages]
    assert texts[0] == "0 chunks are there, 2 are missing"
    assert sorted(texts[1:3]) == [
        "000000-000000000000-000000000064.chunk is kept",
        "000000-000000000064-000000000128.chunk is kept",
    ]
    assert texts[3] == "all chunks are there"
