"""Results kept on disk, so that drawing again does not compute again.

A result is a pure function of the experiment, the key of the random stream, the number of runs and
the code. The first three name its file, and all of them stand inside; the arrays are exactly what
the core wrote.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy.typing as npt

from committal.config import Experiment
from committal.paper.fingerprint import fingerprint
from committal.paper.output import write
from committal.study.store import chunks as chunkfile
from committal.support.provenance import key_text, versions

Arrays = Mapping[str, npt.NDArray[Any]]


class Cache:
    """A directory of results.

    Parameters
    ----------
    directory : path
        Made when something is stored.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from committal.config import Bandit, Natural, Softmax
    >>> exp = Experiment(Bandit([1, 0]), Softmax(), Natural(0.1), steps=3)
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     cache = Cache(Path(directory))
    ...     cache.put(exp, 1, 2, {"value": np.ones((2, 1))}, seconds=0.5)
    ...     arrays, seconds = cache.get(exp, 1, 2)
    >>> arrays["value"].tolist(), seconds
    ([[1.0], [1.0]], 0.5)
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def get(self, experiment: Experiment, key: int, runs: int) -> tuple[Arrays, float] | None:
        """Return what was stored and how long it took; None if it is not there.

        A file that is damaged, or was made by other code, is not there.
        """
        file = self._file(experiment, key, runs)
        try:
            about, arrays = chunkfile.decode(file.read_bytes())
        except (OSError, chunkfile.ChunkError):
            return None
        expected = _about(experiment, key, runs)
        if {name: about.get(name) for name in expected} != expected:
            return None
        return arrays, float(about["seconds"])

    def put(
        self, experiment: Experiment, key: int, runs: int, arrays: Arrays, *, seconds: float
    ) -> None:
        """Store arrays, wholly or not at all."""
        about = {**_about(experiment, key, runs), "seconds": round(seconds, 3)}
        write(self._file(experiment, key, runs), chunkfile.encode(about, arrays))

    def _file(self, experiment: Experiment, key: int, runs: int) -> Path:
        return self.directory / f"{experiment.hash[:20]}-{key:016x}-{runs}.chunk"


def _about(experiment: Experiment, key: int, runs: int) -> dict[str, Any]:
    return {
        "experiment": experiment.hash,
        "key": key_text(key),
        "runs": runs,
        "code": fingerprint("results"),
        **versions(),
    }
