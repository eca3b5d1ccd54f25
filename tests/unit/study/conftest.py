"""The experiments of studies."""

from __future__ import annotations

import pytest

import committal as cm


@pytest.fixture(scope="module")
def base(three_arms: cm.Experiment) -> cm.Experiment:
    record = cm.Record("value", "policy", "theta", "action", every=20)
    return three_arms.replace(steps=60, record=record)


@pytest.fixture(scope="module")
def reduced(base: cm.Experiment) -> cm.Experiment:
    reduce = cm.Reduce(below=0.9, quantiles=(0.5,), bins=32)
    return base.replace(record=cm.Record("value", "policy", every=20, reduce=reduce))
