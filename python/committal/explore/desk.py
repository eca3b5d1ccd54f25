"""What the page can ask for: a picture, a count, an exact answer, the presets, or a text read.

A request is a JSON object; an answer is bytes. Nothing here knows of HTTP.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from committal.config import Experiment
from committal.errors import ConfigError, ConfigTypeError
from committal.explore import bandits, bounds, counts, mazes
from committal.explore.packets import pack, unpack
from committal.explore.turns import Turn, Turns
from committal.explore.workers import Worker
from committal.explore.writing import plain, python_of
from committal.simulation.streams import stream_key
from committal.support import check
from committal.support.machine import available_threads
from committal.support.notation import NotationError, json_of, toml_of

PANELS = ("a", "b")

#: Says whether nobody listens any more.
Gone = Callable[[], bool]


def never() -> bool:
    """Say that somebody listens.

    Examples
    --------
    >>> never()
    False
    """
    return False


class Desk:
    """Answers the requests of pages.

    Examples
    --------
    >>> desk = Desk()
    >>> desk.read({"toml": "steps = 1"})
    Traceback (most recent call last):
        ...
    committal.errors.ConfigError: problem.kind = None is not allowed; expected 'bandit' or \
'gridworld' on this page
    >>> desk.close()
    """

    def __init__(self) -> None:
        self._turns = Turns()
        # The presets have their own: the first map of a panel need not wait for them.
        self._workers = {name: Worker() for name in (*PANELS, "presets")}
        self._presets: bytes | None = None
        self._threads = available_threads()

    def close(self) -> None:
        """End whatever still works."""
        for worker in self._workers.values():
            worker.close()

    # -- requests --------------------------------------------------------------------------------

    def picture(self, request: Mapping[str, Any], gone: Gone = never) -> bytes:
        """Run hundreds of runs: a packet with all that is drawn at once."""
        start = time.perf_counter()
        with self._turns.picture():
            turn = self._turn(request, gone)
            experiment = bounds.experiment_of(request.get("experiment"))
            runs = bounds.runs_of(request.get("runs"), bounds.DRAWN)
            seed, below = bounds.seed_of(request.get("seed")), _below(request)
            options: dict[str, Any] = {
                "key": stream_key(seed).key,
                "runs": runs,
                "threads": self._threads,
                "report": bounds.within(bounds.PICTURE_SECONDS, turn.check),
            }
            if bounds.is_maze(experiment):
                shown = check.integer("shown", request.get("shown", 0), 0, runs - 1)
                head, arrays = mazes.picture(experiment, **options, shown=shown)
            else:
                head, arrays = bandits.picture(experiment, **options)
        head |= described(experiment, runs=runs, seed=seed, below=below)
        head |= {"number": request["number"], "runs": runs, "below": below}
        head["seconds"] = time.perf_counter() - start
        return pack(head, arrays)

    def count(self, request: Mapping[str, Any], gone: Gone = never) -> Iterator[bytes]:
        """Count failures: lines of JSON, one for every piece."""
        turn = self._turn(request, gone)
        experiment = bounds.experiment_of(request.get("experiment"))
        most = bounds.runs_of(request.get("runs"), bounds.COUNTED)
        known = counts.counted(
            experiment,
            key=stream_key(bounds.seed_of(request.get("seed"))).key,
            below=_below(request),
            most=most,
            threads=self._threads,
            still_wanted=turn.check,
            pause=self._turns.wait_for_pictures,
        )
        for one in known:
            yield json.dumps(one, allow_nan=False).encode() + b"\n"

    def answer(self, request: Mapping[str, Any], gone: Gone = never) -> bytes:
        """Answer without sampling: a packet."""
        turn = self._turn(request, gone)
        # Read here first, so that the process gets nothing that was not looked at.
        experiment = bounds.experiment_of(request.get("experiment"))
        plain = {"what": request.get("what"), "experiment": experiment.to_dict()}
        worker = self._workers[request["panel"]]
        return worker.ask(plain, seconds=bounds.ANSWER_SECONDS, still_wanted=turn.check)

    def presets(self, _: Mapping[str, Any], gone: Gone = never) -> bytes:
        """List the figures of the paper: a packet, made once."""
        del gone  # they are kept: whoever asks next wants them too
        if self._presets is None:
            # In a process: the figures bring matplotlib with them, which takes a second.
            worker = self._workers["presets"]
            made = worker.ask(
                {"what": "presets"}, seconds=bounds.ANSWER_SECONDS, still_wanted=lambda: None
            )
            worker.rest()
            if "error" in unpack(made)[0]:
                return made
            self._presets = made
        return self._presets

    def read(self, request: Mapping[str, Any], gone: Gone = never) -> bytes:
        """Read an experiment that was written as TOML: a packet with its plain form."""
        del gone  # it takes no time
        text = request.get("toml")
        if not isinstance(text, str):
            raise ConfigTypeError("toml", text, "text")
        try:
            data = toml_of(text)
        except NotationError as error:
            raise ConfigError("toml", text, f"valid TOML ({error})") from None
        return pack({"experiment": plain(bounds.experiment_of(data.get("experiment", data)))})

    def _turn(self, request: Mapping[str, Any], gone: Gone) -> Turn:
        page = request.get("page")
        if not isinstance(page, str) or not 0 < len(page) <= 64:
            raise ConfigTypeError("page", page, "a text of 1 to 64 characters")
        panel = check.choice("panel", request.get("panel"), PANELS)
        number = check.integer("number", request.get("number"), 0, 2**53)
        return self._turns.begin(page, panel, number, gone)


def described(experiment: Experiment, *, runs: int, seed: int, below: float) -> dict[str, Any]:
    """Return an experiment in all forms that the page shows.

    Examples
    --------
    >>> from committal.config import Bandit, Natural, Softmax
    >>> exp = Experiment(Bandit([1, 0]), Softmax(), Natural(0.1), steps=10)
    >>> sorted(described(exp, runs=1, seed=0, below=0.5))
    ['experiment', 'python', 'toml']
    """
    import tomli_w

    data = plain(experiment)
    # Rows of a map below each other can be read and changed; of \r\n TOML would keep the \n only.
    lines = "\\r" not in json.dumps(data)
    return {
        "experiment": data,
        "python": python_of(experiment, runs=runs, seed=seed, below=below),
        "toml": tomli_w.dumps(
            {"runs": runs, "rng": seed, "experiment": data}, multiline_strings=lines
        ),
    }


def body_of(text: bytes) -> dict[str, Any]:
    """Read the body of a request.

    Examples
    --------
    >>> body_of(b'{"runs": 3}')
    {'runs': 3}
    """
    try:
        data = json_of(text)
    except NotationError as error:
        raise ConfigError("body", text[:80], f"valid JSON ({error})") from None
    if not isinstance(data, dict):
        raise ConfigTypeError("body", data, "a JSON object")
    return data


def _below(request: Mapping[str, Any]) -> float:
    return check.number("below", request.get("below"))
