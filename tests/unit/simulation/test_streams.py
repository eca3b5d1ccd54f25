"""Seeds lead to keys: repeatable, distinct, and recoverable from the recorded entropy."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

from committal.errors import ConfigError, ConfigTypeError
from committal.simulation.streams import stream_key


def test_known_keys() -> None:
    # Whoever changes these changes everybody's results.
    assert stream_key(0) == (15793235383387715774, "0")
    assert stream_key(12345) == (13091511679009522556, "12345")
    assert stream_key([1, 2]) == (15529898885419721899, "[1, 2]")
    assert stream_key(0, independent="ab") == (13158038239939324473, "0")


@pytest.mark.parametrize("seed", [0, 7, 2**64 - 1, 2**200])
def test_integers_and_sequences_of_seeds_agree(seed: int) -> None:
    assert stream_key(seed) == stream_key(seed)
    assert stream_key(seed) == stream_key(np.random.SeedSequence(seed))
    assert 0 <= stream_key(seed).key < 2**64
    assert stream_key(seed).entropy == str(seed)


def test_numpy_integers_are_integers() -> None:
    assert stream_key(np.int64(5)) == stream_key(np.uint8(5)) == stream_key(5)
    assert stream_key(np.array([3, 4])) == stream_key((3, 4)) == stream_key([3, 4])


def test_seeds_give_different_keys() -> None:
    assert len({stream_key(seed).key for seed in range(1000)}) == 1000


def test_without_seed_every_call_is_new_but_can_be_repeated() -> None:
    first, second = stream_key(), stream_key(None)
    assert first.key != second.key
    assert stream_key(int(first.entropy)) == first


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.PCG64])
def test_a_generator_is_consumed_once(make: Any) -> None:
    rng = make(0)
    first, second = stream_key(rng), stream_key(rng)
    assert first.key != second.key
    again = make(0)
    assert stream_key(again) == first
    assert stream_key(int(second.entropy)) == second
    # Exactly one number was drawn by each call.
    untouched = np.random.Generator(np.random.PCG64(0))
    untouched.integers(2**64, dtype=np.uint64, size=2)
    used = rng if isinstance(rng, np.random.Generator) else np.random.Generator(rng)
    assert used.integers(2**63) == untouched.integers(2**63)


def test_a_sequence_of_seeds_is_not_consumed() -> None:
    sequence = np.random.SeedSequence(3)
    assert stream_key(sequence) == stream_key(sequence)
    assert sequence.n_children_spawned == 0


def test_spawned_seeds_differ_and_describe_themselves() -> None:
    children = np.random.SeedSequence([4, 5]).spawn(2)
    keys = [stream_key(child) for child in children]
    assert keys[0].key != keys[1].key
    assert keys[1].entropy == "SeedSequence([4, 5], spawn_key=(1,))"
    call = ast.parse(keys[1].entropy, mode="eval").body
    assert isinstance(call, ast.Call)
    rebuilt = np.random.SeedSequence(
        ast.literal_eval(call.args[0]),
        **{word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg},
    )
    assert stream_key(rebuilt) == keys[1]


def test_the_size_of_the_pool_is_described() -> None:
    sequence = np.random.SeedSequence(1, pool_size=8)
    assert stream_key(sequence).entropy == "SeedSequence(1, pool_size=8)"
    assert stream_key(sequence).key != stream_key(1).key


def test_independent_mixes_the_text_and_the_seed() -> None:
    keys = {
        stream_key(0).key,
        stream_key(0, independent="a").key,
        stream_key(0, independent="b").key,
        stream_key(1, independent="a").key,
    }
    assert len(keys) == 4
    assert stream_key(0, independent="a") == stream_key(0, independent="a")


@pytest.mark.parametrize(
    "rng",
    [True, 1.0, "0", [], [[1, 2]], [1, 0.5], [True], np.random.RandomState(0), np.True_, {1}],
)
def test_wrong_types_are_refused(rng: Any) -> None:
    with pytest.raises(ConfigTypeError, match=r"^rng = .* is not allowed; expected None, an int"):
        stream_key(rng)


@pytest.mark.parametrize("rng", [-1, [1, -2], np.int64(-3)])
def test_negative_seeds_are_refused(rng: Any) -> None:
    with pytest.raises(ConfigError, match=r"^rng = .*-\d.* is not allowed") as caught:
        stream_key(rng)
    assert not isinstance(caught.value, TypeError)
