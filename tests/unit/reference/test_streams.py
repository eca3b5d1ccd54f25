"""The streams of the oracle: the published generator, read as documented."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from committal import reference


@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        ("00000000 00000000 00000000 00000000", "00000000 00000000",
         "5f6fb709 0d893f64 4f121f81 4f730a48"),
        ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff",
         "5207ddc2 45165e59 4d8ee751 8c52f662"),
        ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0",
         "4dfccaba 190a87f0 c47362ba b6b5242a"),
    ],
)  # fmt: skip
def test_philox_gives_the_published_answers(counter: str, key: str, words: str) -> None:
    got = reference.philox4x32(
        [int(x, 16) for x in counter.split()], [int(x, 16) for x in key.split()]
    )
    assert [f"{x:08x}" for x in got] == words.split()


def test_philox_is_elementwise_over_leading_axes() -> None:
    counters = np.arange(24).reshape(2, 3, 4)
    got = reference.philox4x32(counters, [1, 2])
    assert got.dtype == np.uint32
    for i, j in itertools.product(range(2), range(3)):
        np.testing.assert_array_equal(got[i, j], reference.philox4x32(counters[i, j], [1, 2]))


def test_uniform_number_d_is_the_documented_function_of_key_run_slot_d() -> None:
    key, run, slot, d = 0xDEADBEEF_01234567, (5 << 32) | 9, 1, (3 << 33) | (7 << 1)
    words = reference.philox4x32([7, (3 << 8) | 1, 9, 5], [0x01234567, 0xDEADBEEF])
    x0, x1, x2, x3 = (int(x) for x in words)
    expected = [(x0 | x1 << 32) >> 12, (x2 | x3 << 32) >> 12]
    got = reference.uniforms(key, run, slot, d, 2)
    assert [int(u * 2**52) for u in got] == expected
    assert np.all((got >= 0.0) & (got < 1.0))


def test_streams_of_other_runs_slots_and_keys_differ_and_are_uniform() -> None:
    streams = [
        reference.uniforms(key, run, slot, 0, 2000)
        for key, run, slot in itertools.product((0, 1), (0, 1), (0, 1))
    ]
    assert len({stream.tobytes() for stream in streams}) == len(streams)
    # The standard error of the mean of 16,000 uniforms is 0.0023.
    assert abs(np.mean(streams) - 0.5) < 5 * 0.0023


def test_an_arm_of_probability_zero_is_never_drawn() -> None:
    mu = np.array([0.0, 0.25, 0.0, 0.75, 0.0])
    drawn = {reference.draw_action(mu, u) for u in (0.0, 0.2, 0.25, 0.5, 1.0 - 2.0**-52)}
    assert drawn == {1, 3}
