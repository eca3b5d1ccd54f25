"""What a formula makes of recorded numbers: they are numbers, or the call stops."""

from __future__ import annotations

import pytest

import committal as cm
from committal.errors import NonFiniteError


@pytest.mark.parametrize("text", ["1 / (t - 6)", "sqrt(5.5 - t)"])
def test_a_recorded_baseline_is_a_number(text: str) -> None:
    # No update uses it: the parameters stay what they are.
    e = cm.Experiment(
        cm.Bandit([1, 0.5, 0]),
        cm.Softmax(),
        cm.Vanilla(0.1),
        baseline=cm.baseline(text),
        steps=6,
        record=cm.Record("baseline", every=1),
    )
    with pytest.raises(NonFiniteError, match=r"run 0, update 6: the formula of baseline"):
        cm.run(e, runs=3, rng=0)
    reduced = e.replace(record=e.record.replace(reduce=cm.Reduce()))
    with pytest.raises(NonFiniteError, match=r"run 7, update 6: the formula of baseline"):
        cm.run(reduced, runs=3, rng=0, first_run=7)
