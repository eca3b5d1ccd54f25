"""Running: what it accepts, what it refuses, and that cutting changes nothing."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import committal as cm
from committal.support import machine as system
from committal.support.progress import Bar, render

ConfigError = cm.errors.ConfigError
ConfigTypeError = cm.errors.ConfigTypeError


@pytest.fixture(scope="module")
def experiment(three_arms: cm.Experiment) -> cm.Experiment:
    record = cm.Record("value", "policy", every=10)
    return three_arms.replace(baseline=cm.Value(), steps=30, record=record)


def reduced(experiment: cm.Experiment) -> cm.Experiment:
    record = cm.Record("value", "policy", every=10, reduce=cm.Reduce(below=0.9, quantiles=(0.5,)))
    return experiment.replace(record=record)


@pytest.mark.parametrize("options", [{"chunk": 1}, {"chunk": 3}, {"chunk": 1000}, {"threads": 1}])
def test_cutting_changes_nothing(experiment: cm.Experiment, options: dict[str, int]) -> None:
    for each in (experiment, reduced(experiment)):
        whole = cm.run(each, runs=10, rng=3, threads=2)
        assert whole.identical(cm.run(each, runs=10, rng=3, **options))  # type: ignore[arg-type]


def test_pieces_make_the_whole(experiment: cm.Experiment) -> None:
    xr = pytest.importorskip("xarray")
    whole = cm.run(experiment, runs=10, rng=3)
    pieces = [cm.run(experiment, runs=6, rng=3), cm.run(experiment, runs=4, rng=3, first_run=6)]
    assert whole.identical(xr.concat(pieces, "run", combine_attrs="identical"))


def test_seeds(experiment: cm.Experiment) -> None:
    def values(rng: object, **options: bool) -> list[float]:
        data = cm.run(experiment, runs=3, rng=rng, **options)  # type: ignore[arg-type]
        return list(data["value"].values.ravel())

    assert values(0) == values(0) == values(np.int64(0))
    assert values(0) != values(1)
    assert values(np.random.SeedSequence(7)) == values(np.random.SeedSequence(7))
    generator = np.random.default_rng(7)
    assert values(generator) != values(generator)
    assert values(None) != values(None)
    assert values(0) != values(0, independent=True) == values(0, independent=True)


def test_common_random_numbers(experiment: cm.Experiment) -> None:
    def actions(step_size: float, independent: bool) -> list[int]:
        one = experiment.replace(
            update=cm.Natural(step_size=step_size), record=cm.Record("action", at=[0])
        )
        data = cm.run(one, runs=50, rng=0, independent=independent)
        return list(data["action"].values.ravel())

    assert actions(0.1, False) == actions(0.2, False)
    assert actions(0.1, True) != actions(0.2, True)


def test_no_runs(experiment: cm.Experiment) -> None:
    data = cm.run(experiment, runs=0, rng=0)
    assert dict(data.sizes) == {"run": 0, "time": 4, "arm": 3}
    assert data["value"].dtype == np.float64


def test_no_steps(experiment: cm.Experiment) -> None:
    still = experiment.replace(steps=0, record=cm.Record("value", "policy"))
    data = cm.run(still, runs=2, rng=0, progress=True)
    expected = np.exp([0, 3, 5]) / np.exp([0, 3, 5]).sum()
    np.testing.assert_allclose(data["policy"].values[:, 0], [expected] * 2, rtol=1e-14)


@pytest.mark.parametrize(
    ("argument", "value", "kind"),
    [
        ("runs", -1, ConfigError),
        ("runs", 1.0, ConfigTypeError),
        ("runs", True, ConfigTypeError),
        ("runs", "3", ConfigTypeError),
        ("runs", None, ConfigTypeError),
        ("runs", 2**63, ConfigError),
        ("runs", 2**62, ConfigError),  # times 30 steps
        ("first_run", -1, ConfigError),
        ("first_run", 2**63, ConfigError),
        ("first_run", 0.5, ConfigTypeError),
        ("threads", 0, ConfigError),
        ("threads", -2, ConfigError),
        ("threads", 10**6, ConfigError),
        ("threads", 1.5, ConfigTypeError),
        ("chunk", 0, ConfigError),
        ("chunk", 2.0, ConfigTypeError),
        ("isa", "sse9", ConfigError),
        ("isa", None, ConfigError),
        ("independent", 1, ConfigTypeError),
        ("progress", "yes", ConfigTypeError),
        ("rng", -1, ConfigError),
        ("rng", "seed", ConfigTypeError),
        ("experiment", "exp", ConfigTypeError),
    ],
)
def test_refuses_by_name(
    experiment: cm.Experiment, argument: str, value: object, kind: type[Exception]
) -> None:
    arguments: dict[str, object] = {"experiment": experiment, "runs": 2, "rng": 0, argument: value}
    with pytest.raises(kind, match=f"^{argument} = ") as caught:
        cm.run(**arguments)  # type: ignore[arg-type]
    assert isinstance(caught.value, ConfigError)
    assert caught.value.argument == argument


def test_refuses_what_does_not_fit_into_memory(experiment: cm.Experiment) -> None:
    with pytest.raises(ConfigError, match=r"runs = 1000000000000 .* need 128 TB .*Record.*reduce"):
        cm.run(experiment, runs=10**12, rng=0)


def test_reduced_runs_need_little_memory(
    experiment: cm.Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = sys.modules["committal.simulation.run"]  # the name is that of the function
    monkeypatch.setattr(module, "available_memory", lambda: 1_000)
    with pytest.raises(ConfigError, match="fewer recorded times"):
        cm.run(reduced(experiment), runs=1, rng=0)
    monkeypatch.setattr(module, "available_memory", lambda: None)
    cm.run(reduced(experiment), runs=1, rng=0)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are different there")
@pytest.mark.parametrize("threads", [1, 2])
def test_control_c_stops_at_once(threads: int) -> None:
    program = f"""
import sys, committal as cm
exp = cm.Experiment(cm.Bandit([1, 0.7, 0]), cm.Softmax(), cm.Natural(0.01), cm.Value(), steps=10**7)
cm.run(exp.replace(steps=0), runs=1, rng=0)  # loads what is slow to load
print("ready", flush=True)
cm.run(exp, runs=10_000, rng=0, progress=True, threads={threads})
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.5)
            start = time.monotonic()
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=30)
            seconds = time.monotonic() - start
        finally:
            process.kill()  # or the end of the block would wait for what did not stop
    assert "KeyboardInterrupt" in errors
    # A quarter of a second for the core; the rest is the interpreter's exit on a busy machine.
    assert seconds < 1.5


def test_progress_is_told(experiment: cm.Experiment) -> None:
    heard: list[tuple[int, int]] = []
    cm.run(experiment, runs=10, rng=0, chunk=4, progress=lambda *both: heard.append(both))
    assert all(0 <= done <= total == 300 for done, total in heard)
    assert [done for done, _ in heard] == sorted(done for done, _ in heard)


def test_progress_may_cancel(experiment: cm.Experiment) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    long = experiment.replace(steps=2_000, record=cm.Record())
    with pytest.raises(KeyboardInterrupt):
        cm.run(long, runs=400_000, rng=0, progress=stop)


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_bar_draws_on_a_terminal_only() -> None:
    clock = iter([5.0, 6.0, 6.01, 7.0])
    terminal = Terminal()
    with Bar("b*", stream=terminal, clock=lambda: next(clock)) as bar:
        bar(0, 100)
        bar(10, 100)
        bar(11, 100)  # too soon after the last one
        bar(50, 100)
    _, first, second, third, erased = terminal.getvalue().split("\r\x1b[2K")
    assert "0 %" in first
    assert "10 %" in second
    assert "0:09 left" in second
    assert "50 %" in third
    assert erased == ""
    pipe = io.StringIO()
    with Bar("b*", stream=pipe) as bar:
        bar(10, 100)
    assert pipe.getvalue() == ""


def test_bar_without_unicode() -> None:
    class Ascii(Terminal):
        encoding = "ascii"

    terminal = Ascii()
    with Bar(stream=terminal) as bar:
        bar(55, 100)
    assert terminal.getvalue().isascii()
    assert "55 %" in terminal.getvalue()


def test_lines_of_a_bar() -> None:
    assert "100 %" in render(0, 0, 0.0, "", "updates")
    assert render(10**9, 4 * 10**9, 1.0, "", "updates").endswith("1.0 G updates/s  0:03 left")
    assert render(1, 10_000, 1.0, "", "updates").endswith("1 updates/s  2:46:39 left")


def test_the_machine() -> None:
    assert system.available_threads() >= 1
    memory = system.available_memory()
    assert memory is None or 2**20 < memory < 2**60
