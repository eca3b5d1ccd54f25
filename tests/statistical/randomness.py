"""Test the random streams in the orders in which simulations use them.

    python tests/statistical/randomness.py [--count N] [--orders NAME ...]
        [--dieharder [--psamples N] [--tests N ...]]

Every random number is a function of (key, run, slot, draw). A generator may be fine along one of
these and still repeat itself across another, so the same tests are made of several *orders*: the
draws of one run, one draw of many runs, slots that take turns, neighbouring keys, keys that differ
in one bit, runs 2^32 apart. What is printed are the tables of docs/statistics.md; the exit code is
1 if a p-value is below 1e-6, or if all of them together are not uniform. `--dieharder` sends each
order to the program of that name instead, where it is installed.
"""

from __future__ import annotations

import argparse
import math
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import numpy.typing as npt
from scipy import stats

from committal import _core

Floats = npt.NDArray[np.float64]
SMALLEST = 1e-6
KEY = 0x9E3779B97F4A7C15


# -- orders ----------------------------------------------------------------------------------------


def _uniforms(key: int, run: int, slot: int, first: int, count: int) -> Floats:
    return np.asarray(_core.uniforms(key, run, slot, first, count))


def _crossed(make: Callable[[int, int, int], Floats], width: int, block: int) -> Iterator[Floats]:
    """Yield blocks in which neighbours are neighbours in the first argument of `make`."""
    for number in range(2**30):
        rows = [make(i, number * block, block) for i in range(width)]
        yield np.stack(rows, axis=1).ravel()


def _draws() -> Iterator[Floats]:
    for i in range(2**30):
        yield _uniforms(KEY, 7, 0, i << 16, 1 << 16)


def _bits_of_keys(i: int, first: int, count: int) -> Floats:
    return _uniforms(KEY ^ ((1 << i) if i < 64 else 0), 7, 0, first, count)


def _far_runs(i: int, first: int, count: int) -> Floats:
    return _uniforms(KEY, i << 32, 0, (i << 32) + first, count)


ORDERS: dict[str, Callable[[], Iterator[Floats]]] = {
    # The draws of one run.
    "draws": _draws,
    # One draw of 1024 neighbouring runs, then the next draw.
    "runs": lambda: _crossed(lambda i, first, n: _uniforms(KEY, i, 0, first, n), 1024, 64),
    # Action, reward, transition and start take turns.
    "slots": lambda: _crossed(lambda i, first, n: _uniforms(KEY, 7, i, first, n), 4, 1 << 14),
    # One draw of 1024 neighbouring keys, then the next draw.
    "keys": lambda: _crossed(lambda i, first, n: _uniforms(i, 7, 0, first, n), 1024, 64),
    # A key, and the 64 that differ from it in one bit.
    "bits of keys": lambda: _crossed(_bits_of_keys, 65, 1024),
    # 512 runs that are 2^32 apart, and so are their draws.
    "far runs": lambda: _crossed(_far_runs, 512, 128),
}


def sample(order: str, count: int) -> Floats:
    """Return the first numbers of an order."""
    found, blocks = 0, []
    for block in ORDERS[order]():
        blocks.append(block)
        found += len(block)
        if found >= count:
            break
    return np.concatenate(blocks)[:count]


# -- tests: from numbers to a p-value --------------------------------------------------------------


def _chi_square(counts: npt.ArrayLike) -> float:
    return float(stats.chisquare(np.asarray(counts).ravel()).pvalue)


def kolmogorov(u: Floats) -> float:
    """Kolmogorov-Smirnov: the numbers are uniform."""
    return float(stats.kstest(u, "uniform").pvalue)


def frequencies(u: Floats) -> float:
    """Chi-square of 4096 cells."""
    return _chi_square(np.bincount((u * 4096).astype(np.int64), minlength=4096))


def pairs(u: Floats) -> float:
    """Chi-square of 64 x 64 cells of numbers that follow each other."""
    x = (u[: len(u) // 2 * 2] * 64).astype(np.int64).reshape(-1, 2)
    return _chi_square(np.bincount(x[:, 0] * 64 + x[:, 1], minlength=4096))


def triples(u: Floats) -> float:
    """Chi-square of 16 x 16 x 16 cells."""
    x = (u[: len(u) // 3 * 3] * 16).astype(np.int64).reshape(-1, 3)
    return _chi_square(np.bincount(x[:, 0] * 256 + x[:, 1] * 16 + x[:, 2], minlength=4096))


def permutations(u: Floats) -> float:
    """Chi-square of the 120 orders of five numbers."""
    ranks = u[: len(u) // 5 * 5].reshape(-1, 5).argsort(axis=1) @ 5 ** np.arange(5)
    return _chi_square(np.unique(ranks, return_counts=True)[1])


def correlations(u: Floats) -> float:
    """The largest correlation with what comes 1 to 100 places later."""
    x = (u - 0.5) * math.sqrt(12.0)
    z = [float(x[:-lag] @ x[lag:]) / math.sqrt(len(x) - lag) for lag in range(1, 101)]
    return float(-np.expm1(100 * np.log1p(-2.0 * stats.norm.sf(np.abs(z).max()))))


def bits(u: Floats) -> float:
    """Each of the 52 bits is set half of the time, and differs from its neighbour's as often."""
    x = (u * 2.0**52).astype(np.uint64)
    n, total = len(x), 0.0
    for bit in range(52):
        one = ((x >> np.uint64(bit)) & np.uint64(1)).astype(np.int64)
        total += (2 * int(one.sum()) - n) ** 2 / n
        total += (2 * int((one[:-1] ^ one[1:]).sum()) - (n - 1)) ** 2 / (n - 1)
    return float(stats.chi2.sf(total, 104))


def largest_of_eight(u: Floats) -> float:
    """The eighth power of the largest of eight is uniform."""
    return kolmogorov(u[: len(u) // 8 * 8].reshape(-1, 8).max(axis=1) ** 8)


def birthdays(u: Floats) -> float:
    """Equal spacings of 2048 birthdays in a year of 2^31 days, Poisson with mean 1, many times."""
    days = (u[: len(u) // 2048 * 2048] * 2.0**31).astype(np.int64).reshape(-1, 2048)
    spacings = np.sort(np.diff(np.sort(days, axis=1), axis=1), axis=1)
    equal = (np.diff(spacings, axis=1) == 0).sum(axis=1)
    got = np.bincount(np.minimum(equal, 4), minlength=5)
    law = stats.poisson.pmf(np.arange(5), 1.0)
    law[-1] = 1.0 - law[:-1].sum()
    return float(stats.chisquare(got, len(days) * law).pvalue)


TESTS = (
    kolmogorov, frequencies, pairs, triples, permutations, correlations, bits, largest_of_eight,
    birthdays,
)  # fmt: skip


def avalanche(inputs: int) -> dict[str, float]:
    """A flipped bit of key, run or draw flips every bit of a number half of the time: p-values."""
    base = np.random.default_rng(0).integers(0, 2**56, (inputs, 3)).tolist()
    found = {}
    for place, (what, width) in enumerate((("key", 64), ("run", 64), ("draw", 56))):
        flips = np.zeros((width, 52))
        for words in base:
            changed = np.empty(width, np.uint64)
            for bit in range(width):
                other = list(words)
                other[place] ^= 1 << bit
                changed[bit] = _word(*words) ^ _word(*other)
            flips += (changed[:, None] >> np.arange(52, dtype=np.uint64)) & np.uint64(1)
        z2 = (2.0 * flips - inputs) ** 2 / inputs
        found[what] = float(stats.chi2.sf(z2.sum(), z2.size))
    return found


def _word(key: int, run: int, draw: int) -> int:
    return int(_core.uniforms(key, run, 0, draw, 1)[0] * 2.0**52)


# -- dieharder -------------------------------------------------------------------------------------

#: Those that the program itself calls good and that end soon.
DIEHARDER = (0, 1, 2, 3, 4, 8, 9, 10, 11, 12, 13, 15, 16, 100, 101, 102, 205, 206, 209)


def dieharder(order: str, psamples: int, tests: Iterable[int]) -> Iterator[str]:
    """Send an order, 32 bits of each number, to dieharder, one test after the other; its lines."""
    for test in tests:
        command = ["dieharder", "-g", "200", "-d", str(test), "-p", str(psamples)]
        # Without a buffer, which could not be emptied when the program has gone.
        with subprocess.Popen(
            command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as program:
            assert program.stdin is not None
            assert program.stdout is not None
            try:
                for block in ORDERS[order]():
                    program.stdin.write((block * 2.0**32).astype("<u4").tobytes())
            except BrokenPipeError:
                pass  # it has enough
            output = program.stdout.read().decode()
        for line in output.splitlines():
            fields = [field.strip() for field in line.split("|")]
            if len(fields) == 6 and fields[-1] in ("PASSED", "WEAK", "FAILED"):
                yield " | ".join([fields[0], fields[1], fields[4], fields[5]])


# -- what is printed -------------------------------------------------------------------------------


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1 << 22, help="numbers of each order")
    parser.add_argument("--inputs", type=int, default=256, help="inputs of the avalanche")
    parser.add_argument("--orders", nargs="+", default=list(ORDERS), choices=list(ORDERS))
    parser.add_argument("--dieharder", action="store_true")
    # With few of them its last step, a test that p-values are uniform, leans towards 1.
    parser.add_argument("--psamples", type=int, default=100, help="of each test of dieharder")
    parser.add_argument("--tests", type=int, nargs="+", default=DIEHARDER, help="of dieharder")
    given = parser.parse_args()
    if given.dieharder:
        if shutil.which("dieharder") is None:
            raise SystemExit("dieharder is not installed")
        for order in given.orders:
            for line in dieharder(order, given.psamples, given.tests):
                print(f"| {order} | {line} |", flush=True)
        return 0
    values: list[float] = []
    print(f"| order | {' | '.join(test.__name__.replace('_', ' ') for test in TESTS)} |")
    print("|---" * (len(TESTS) + 1) + "|")
    for order in given.orders:
        u = sample(order, given.count)
        row = [test(u) for test in TESTS]
        values += row
        print(f"| {order} | {' | '.join(f'{p:.3f}' for p in row)} |", flush=True)
    for what, p in avalanche(given.inputs).items():
        values.append(p)
        print(f"| avalanche of the {what} | {p:.3f} |", flush=True)
    together = float(stats.kstest(values, "uniform").pvalue)
    print(f"\n{len(values)} p-values, the smallest {min(values):.2g}; all of them together are "
          f"uniform with p = {together:.3f}")  # fmt: skip
    return int(min(values) < SMALLEST or together < SMALLEST)


if __name__ == "__main__":
    sys.exit(main())
