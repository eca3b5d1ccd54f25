"""The same loop, written by somebody who knows how: natural, on-policy, rewards without noise.

`numba_expert_loop` keeps the weights exp(theta - shift) from update to update, so that an update
costs one exp, keeps their sums, and has a generator of its own (xoshiro256+) inlined into the loop.

`jax_loop` draws all uniforms before the loop and updates by a one-hot mask, without gathers and
scatters; jit, lax.scan, one device per thread. `blocks=True` goes one step further: runs advance in
blocks that stay in the cache, and few arms are unrolled.
"""

from __future__ import annotations

import functools
import os
from typing import Any

import numba
import numpy as np
from peers import Choice, Floats, Loop

REFRESH = 1024  # updates after which the expert adds up its sums anew, against drift
UNROLLED = 10  # arms


def covers(choice: Choice) -> bool:
    """Say whether the experts know this combination."""
    known = ("constant", "value")
    return choice == Choice("natural", choice.baseline) and choice.baseline in known


# ------------------------------------------------------------------------------------- Numba


@numba.njit(inline="always")
def _rotate(x, k):  # type: ignore[no-untyped-def]
    return (x << np.uint64(k)) | (x >> np.uint64(64 - k))


@numba.njit(inline="always")
def _seed(state, z):  # type: ignore[no-untyped-def]
    """Fill four words by splitmix64."""
    for i in range(4):
        z += np.uint64(0x9E3779B97F4A7C15)
        x = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state[i] = x ^ (x >> np.uint64(31))


@functools.cache
def numba_expert_loop(choice: Choice) -> Loop:
    """Compile the expert's loop, parallel over runs."""
    by_value, constant = choice.baseline == "value", choice.constant

    @numba.njit(parallel=True)
    def loop(r, theta0, alpha, steps, runs, seed):  # type: ignore[no-untyped-def]
        arms = r.size
        final = np.empty(runs)
        for run in numba.prange(runs):
            theta = theta0.copy()
            weight = np.empty(arms)
            words = np.empty(4, np.uint64)
            _seed(words, np.uint64(seed) + np.uint64(run) * np.uint64(0xD1342543DE82EF95))
            s0, s1, s2, s3 = words[0], words[1], words[2], words[3]
            shift = 0.0
            total = 0.0
            value = 0.0
            age = REFRESH
            for _ in range(steps):
                if age >= REFRESH or not 1e-9 < total < 1e9:
                    shift = theta.max()
                    total = 0.0
                    value = 0.0
                    for i in range(arms):
                        weight[i] = np.exp(theta[i] - shift)
                        total += weight[i]
                        value += weight[i] * r[i]
                    age = 0
                age += 1
                u = np.float64((s0 + s3) >> np.uint64(11)) * 1.1102230246251565e-16
                t = s1 << np.uint64(17)
                s2 ^= s0
                s3 ^= s1
                s1 ^= s2
                s0 ^= s3
                s2 ^= t
                s3 = _rotate(s3, 45)
                target = u * total
                a = 0
                cumulative = weight[0]
                while target >= cumulative and a < arms - 1:
                    a += 1
                    cumulative += weight[a]
                b = value / total if by_value else constant
                old = weight[a]
                theta[a] += alpha * (r[a] - b) * total / old
                new = np.exp(theta[a] - shift)
                weight[a] = new
                total += new - old
                value += (new - old) * r[a]
            largest = theta.max()
            total = 0.0
            value = 0.0
            for i in range(arms):
                w = np.exp(theta[i] - largest)
                total += w
                value += w * r[i]
            final[run] = value / total
        return final

    compiled: Any = loop
    seeds = iter(range(1, 1 << 62, 1_000_003))

    def final_values(r: Floats, theta0: Floats, alpha: float, steps: int, runs: int) -> Floats:
        final: Floats = compiled(r, theta0, alpha, steps, runs, next(seeds))
        return final

    return final_values


# --------------------------------------------------------------------------------------- JAX


def prepare_jax(threads: int) -> str | None:
    """Import JAX with one device per thread; its version, or None if it is not installed."""
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={threads}"
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    try:
        import jax
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    version: str = jax.__version__
    return version


def jax_loop(choice: Choice, *, blocks: bool) -> Loop:
    """Make the loop of JAX, on all of its devices."""
    import jax
    import jax.numpy as jnp

    made: dict[Any, Any] = {}

    def by_masks(r: Any, alpha: float) -> Any:
        each = jnp.arange(len(r))[:, None]

        def step(theta: Any, u: Any) -> Any:
            weight = jnp.exp(theta - theta.max(axis=0))
            cumulative = jnp.cumsum(weight, axis=0)
            total = cumulative[-1]
            action = jnp.minimum((u * total >= cumulative).sum(axis=0), len(r) - 1)
            hot = each == action
            b = (r @ weight) / total if choice.baseline == "value" else choice.constant
            chosen = jnp.where(hot, weight, 0.0).sum(axis=0)
            return theta + jnp.where(hot, alpha * (r[:, None] - b) * total / chosen, 0.0), None

        return step

    def unrolled(r: Floats, alpha: float) -> Any:
        arms = range(len(r))

        def step(rows: Any, u: Any) -> Any:
            largest = rows[0]
            for k in arms[1:]:
                largest = jnp.maximum(largest, rows[k])
            weight = [jnp.exp(row - largest) for row in rows]
            cumulative = [weight[0]]
            for k in arms[1:]:
                cumulative.append(cumulative[-1] + weight[k])
            total = cumulative[-1]
            target = u * total
            hot = [target < cumulative[0]]
            hot += [(target >= cumulative[k - 1]) & (target < cumulative[k]) for k in arms[1:]]
            value = sum(r[k] * weight[k] for k in arms)
            b = value if choice.baseline == "value" else choice.constant * total
            reward = sum(jnp.where(hot[k], r[k], 0.0) for k in arms)
            chosen = sum(jnp.where(hot[k], weight[k], 0.0) for k in arms)
            move = alpha * (reward * total - b) / chosen
            return tuple(jnp.where(hot[k], rows[k] + move, rows[k]) for k in arms), None

        return step

    def compile_for(r: Floats, theta0: Floats, alpha: float, steps: int, runs: int) -> Any:
        devices = jax.local_device_count()
        each = runs // devices
        together = min(max(8192 // len(r), 64), each) if blocks else each
        few = blocks and len(r) <= UNROLLED

        def block(key: Any) -> Any:
            u = jax.random.uniform(key, (steps, together), dtype=jnp.float64)
            if few:
                rows = tuple(jnp.full(together, x) for x in theta0)
                theta = jnp.stack(jax.lax.scan(unrolled(r, alpha), rows, u)[0])
            else:
                start = jnp.tile(jnp.asarray(theta0)[:, None], (1, together))
                theta = jax.lax.scan(by_masks(jnp.asarray(r), alpha), start, u)[0]
            return jnp.asarray(r) @ jax.nn.softmax(theta, axis=0)

        def device(key: Any) -> Any:
            if not blocks:
                return block(key)
            return jax.lax.map(block, jax.random.split(key, each // together))

        return jax.pmap(device), jax.random.split(jax.random.key(0, impl="rbg"), devices)

    def final_values(r: Floats, theta0: Floats, alpha: float, steps: int, runs: int) -> Floats:
        size = (len(r), alpha, steps, runs)
        if size not in made:
            made[size] = compile_for(r, theta0, alpha, steps, runs)
        compiled, key = made[size]
        return np.asarray(jax.block_until_ready(compiled(key))).ravel()

    return final_values
