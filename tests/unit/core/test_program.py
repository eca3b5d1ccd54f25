"""Programs over arrays: the interpreter against NumPy, on every instruction set."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from committal import _core

sys.path.insert(0, str(Path(__file__).parent))  # its files are not a package
from program_builder import Builder

Floats = npt.NDArray[np.float64]

ISAS = _core.available()["isas"]
LANES = 37
EXTENT = {"run": (), "arm": (5,), "sample": (3,), "sample_arm": (3, 5)}

UNARY: dict[str, Callable[[Any], Any]] = {
    "neg": np.negative,
    "abs": np.abs,
    "sign": np.sign,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "not": lambda x: (x == 0.0) * 1.0,
    "copy": lambda x: x,
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "pow": np.power,
    "min": np.minimum,
    "max": np.maximum,
    "lt": lambda x, y: (x < y) * 1.0,
    "le": lambda x, y: (x <= y) * 1.0,
    "gt": lambda x, y: (x > y) * 1.0,
    "ge": lambda x, y: (x >= y) * 1.0,
    "eq": lambda x, y: (x == y) * 1.0,
    "ne": lambda x, y: (x != y) * 1.0,
    "and": lambda x, y: ((x != 0) & (y != 0)) * 1.0,
    "or": lambda x, y: ((x != 0) | (y != 0)) * 1.0,
}
REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": np.sum,
    "mean": np.mean,
    "min": np.min,
    "max": np.max,
    "std": np.std,
}


def widened(x: Floats, shape: str, to: str) -> Floats:
    """Insert the axes that a shape lacks."""
    if shape == "run" and to != "run":
        x = x.reshape((1,) * len(EXTENT[to]) + (LANES,))
    if shape == "arm" and to == "sample_arm":
        x = x[np.newaxis]
    if shape == "sample" and to == "sample_arm":
        x = x[:, np.newaxis]
    return np.broadcast_to(x, (*EXTENT[to], LANES))


def run(program: _core.Program, inputs: dict[str, Floats], **options: Any) -> dict[str, Floats]:
    return _core.run_program(program, inputs, arms=5, samples=3, **options)


def special(rng: np.random.Generator, shape: str) -> Floats:
    """Return ordinary numbers, and those at which functions bend."""
    x = rng.normal(size=(*EXTENT[shape], LANES)) * 10.0 ** rng.integers(-3, 4, LANES)
    odd = np.array([0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 1e-310, 1e300, 708.5, 709.5, 800.0, -800.0])
    where = rng.random(x.shape) < 0.3
    x[where] = rng.choice(odd, size=x.shape)[where]
    return x


def close(found: Floats, want: Floats) -> None:
    tiny = np.abs(want) < 1e-300  # exp gives 0 there
    np.testing.assert_allclose(found[~tiny], want[~tiny], rtol=2e-13)
    np.testing.assert_allclose(found[tiny], want[tiny], atol=1e-300)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("isa", ISAS)
def test_functions_of_one_number(name: str, isa: str) -> None:
    rng = np.random.default_rng(1)
    for shape in EXTENT:
        program = _core.Program(
            registers=[shape, shape],
            constants=[],
            inputs=[("x", 0)],
            code=[(name, 1, 0)],
            outputs=[("y", 1)],
        )
        x = special(rng, shape)
        close(run(program, {"x": x}, isa=isa)["y"], UNARY[name](x))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("isa", ISAS)
def test_functions_of_two_numbers_broadcast(name: str, isa: str) -> None:
    rng = np.random.default_rng(2)
    for first, second, to in itertools.product(EXTENT, EXTENT, EXTENT):
        allowed = all(s in ("run", to) or to == "sample_arm" for s in (first, second))
        parts: dict[str, Any] = {
            "registers": [first, second, to],
            "constants": [],
            "inputs": [("x", 0), ("y", 1)],
            "code": [(name, 2, 0, 1)],
            "outputs": [("z", 2)],
        }
        if not allowed:
            with pytest.raises(ValueError, match="code\\[0\\]"):
                _core.Program(**parts)
            continue
        x, y = special(rng, first), special(rng, second)
        if name == "div":  # what has no reciprocal counts as 0
            y[np.abs(y) < 1e-300] = 0.0
        if name == "pow":  # overflow is reached at slightly different places
            x, y = np.clip(x, -50, 50) + 0.0, np.clip(y, -20, 20)  # nor -0
        found = run(_core.Program(**parts), {"x": x, "y": y}, isa=isa)["z"]
        close(found, BINARY[name](widened(x, first, to), widened(y, second, to)))


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("isa", ISAS)
def test_reductions(name: str, isa: str) -> None:
    rng = np.random.default_rng(3)
    for axis, shape, to in [
        ("arms", "arm", "run"),
        ("arms", "sample_arm", "sample"),
        ("samples", "sample", "run"),
        ("samples", "sample_arm", "arm"),
    ]:
        program = _core.Program(
            registers=[shape, to],
            constants=[],
            inputs=[("x", 0)],
            code=[(f"{name}_{axis}", 1, 0)],
            outputs=[("y", 1)],
        )
        x = rng.normal(size=(*EXTENT[shape], LANES))
        place = 0 if axis == "samples" or shape == "arm" else 1
        want = REDUCTIONS[name](x, axis=place)
        np.testing.assert_allclose(run(program, {"x": x}, isa=isa)["y"], want, rtol=1e-13)


@pytest.mark.parametrize("isa", ISAS)
def test_others_leave_one_out(isa: str) -> None:
    rng = np.random.default_rng(4)
    for axis, shape in itertools.product(("arms", "samples"), EXTENT):
        if shape not in (axis[:-1], "sample_arm"):
            continue
        place = 1 if axis == "arms" and shape == "sample_arm" else 0
        x = rng.normal(size=(*EXTENT[shape], LANES)) * 10.0 ** rng.integers(-8, 8, LANES)
        program = _core.Program(
            registers=[shape, shape, shape],
            constants=[],
            inputs=[("x", 0)],
            code=[(f"others_sum_{axis}", 1, 0), (f"others_mean_{axis}", 2, 0)],
            outputs=[("sum", 1), ("mean", 2)],
        )
        found = run(program, {"x": x}, isa=isa)
        count = x.shape[place]
        without = [np.delete(x, i, axis=place).sum(axis=place) for i in range(count)]
        want = np.stack(without, axis=place)
        np.testing.assert_allclose(found["sum"], want, rtol=1e-9, atol=1e-15)
        np.testing.assert_allclose(found["mean"], want / (count - 1), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("isa", ISAS)
def test_indices_conditions_and_whole_powers(isa: str) -> None:
    rng = np.random.default_rng(5)
    program = _core.Program(
        registers=["arm", "sample", "run", "sample", "run", "sample_arm", "arm"] + ["arm"] * 5,
        constants=[(2, 3.0)],
        inputs=[("r", 0), ("a", 1)],
        code=[
            ("gather", 3, 0, 1),
            ("gather", 4, 0, 2),
            ("onehot", 5, 1),
            ("onehot", 6, 2),
            ("where", 7, 6, 0, 2),
            ("powi", 8, 0, 2),
            ("powi", 9, 0, 7),
            ("powi", 10, 0, -3),
            ("powi", 11, 0, 0),
        ],
        outputs=[("x", 3), ("y", 4), ("e", 5), ("f", 6), ("w", 7)]
        + [(f"p{i}", 8 + i) for i in range(4)],
    )
    r = rng.normal(size=(5, LANES))
    a = rng.integers(0, 5, size=(3, LANES)).astype(float)
    found = run(program, {"r": r, "a": a}, isa=isa)
    np.testing.assert_array_equal(found["x"], np.take_along_axis(r, a.astype(int), axis=0))
    np.testing.assert_array_equal(found["y"], r[3])
    np.testing.assert_array_equal(found["e"], a[:, np.newaxis] == np.arange(5)[:, np.newaxis])
    np.testing.assert_array_equal(found["f"][:, 0], np.arange(5) == 3)
    np.testing.assert_array_equal(found["w"], np.where(found["f"] != 0, r, 3.0))
    for i, n in enumerate((2, 7, -3, 0)):
        np.testing.assert_allclose(found[f"p{i}"], r ** float(n), rtol=1e-13)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("arms", [5, 8, 9, 40])
def test_arms_that_do_not_exist_count_as_the_first(arms: int, isa: str) -> None:
    program = _core.Program(
        registers=["arm", "sample", "sample"],
        constants=[],
        inputs=[("r", 0), ("a", 1)],
        code=[("gather", 2, 0, 1)],
        outputs=[("x", 2)],
    )
    r = np.arange(1.0, arms + 1)[:, np.newaxis] + np.zeros(LANES)
    odd = [arms - 1, arms, arms + 1, -1, 2.5, 0.5, -0.5, 1e300, -1e300, np.inf, -np.inf, np.nan]
    a = np.array(odd)[:, np.newaxis] + np.zeros(LANES)
    options = {"arms": arms, "samples": len(odd), "isa": isa}
    found = _core.run_program(program, {"r": r, "a": a}, **options)["x"]
    np.testing.assert_array_equal(found[0], arms)
    np.testing.assert_array_equal(found[1:], 1.0)


@pytest.mark.parametrize("code", [[("neg", 1, 2), ("neg", 2, 0)], [("neg", 1, 1), ("neg", 2, 1)]])
def test_a_register_is_made_before_it_is_read(code: list[Any]) -> None:
    parts: dict[str, Any] = {"registers": ["arm"] * 3, "constants": [], "inputs": [("r", 0)]}
    with pytest.raises(ValueError, match="defined before it is read"):
        _core.Program(**parts, code=code, outputs=[("x", 2)])
    _core.Program(**parts, code=[("neg", 1, 0), ("neg", 2, 1)], outputs=[("x", 2)])


def exact(program: _core.Program, inputs: dict[str, Floats], arms: int, want: Floats) -> None:
    """Every block and instruction set gives the bits of NumPy."""
    for isa, block in itertools.product(ISAS, (8, 16, 64)):
        found = _core.run_program(program, inputs, arms=arms, isa=isa, block=block)["value"]
        np.testing.assert_array_equal(found, want)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(want))


DIVISORS = [3.0, 0.1, 1 - 0.9**7, 1 - 0.999**3, 2.0 - 2**-52, 1.0 + 2**-52, 7e-310, 1e-200, 1e200,
            1e308, -3.0, -0.7, 2**-400.0, 2**400.0, np.nextafter(2**400.0, np.inf)]  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_quotients_by_one_number_are_rounded_as_divisions_are() -> None:
    """They are made of the reciprocal and what that has lost."""
    rng = np.random.default_rng(6)
    ends = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -1e-310, 2**-400.0, 2**-401.0, 2**400.0,
            np.nextafter(2**400.0, np.inf), 1e308, -1e308, 2**-1022.0]  # fmt: skip
    for z in [*DIVISORS, *rng.uniform(0.5, 2.0, 40)]:
        x = rng.uniform(-2, 2, size=(5, 200))
        x *= 2.0 ** rng.integers(-50, 50, x.shape)
        # Quotients next to a number and next to the middle of two.
        near = z * rng.uniform(1, 2, 200)
        x[1] = np.nextafter(near, np.where(rng.random(200) < 0.5, -np.inf, np.inf))
        x[2, : len(ends)] = ends
        x[3, ::7] = rng.choice(ends, x[3, ::7].size)
        f = Builder()
        exact(f.make(f("div", f.given("pi"), float(z))), {"pi": x}, 5, x / z)


def test_operations_that_are_made_of_several_round_as_those_do() -> None:
    rng = np.random.default_rng(7)
    for arms in (1, 2, 3, 17):
        x, y = rng.normal(size=(2, arms, 70))
        y[0, :3] = 0.0
        f = Builder()
        a, b = f.given("pi"), f.given("r")
        two = f("add", f("mul", 0.9, a), f("mul", 0.1, b))
        square = f("add", f("mul", f("powi", b, power=2), 0.001), f("mul", a, 0.999))
        rooted = f("div", two, f("add", f("sqrt", f("mul", b, b)), 1e-3))
        sums = f("add", f("sub", square, rooted), two)
        want_two = 0.9 * x + 0.1 * y
        want = ((y * y) * 0.001 + x * 0.999) - want_two / (np.sqrt(y * y) + 1e-3)
        exact(f.make(sums), {"pi": x, "r": y}, arms, want + want_two)


def test_quotients_below_and_above_a_root_are_products_with_reciprocals() -> None:
    rng = np.random.default_rng(8)
    for first, second in ((0.3, 0.07), (1e-200, 0.07), (0.3, 1e200)):  # the last two are divisions
        x, y = rng.normal(size=(2, 3, 70))
        f = Builder()
        c, d = f("div", f.given("pi"), first), f("div", f("abs", f.given("r")), second)
        program = f.make(f("div", c, f("add", 1e-8, f("sqrt", d))))
        want = (x / first) / (np.sqrt(np.abs(y) / second) + 1e-8)
        if first == 0.3 and second == 0.07:
            found = [
                _core.run_program(program, {"pi": x, "r": y}, arms=3, isa=isa, block=block)["value"]
                for isa, block in itertools.product(ISAS, (8, 16, 64))
            ]
            np.testing.assert_allclose(found[0], want, rtol=8e-16)
            assert len({each.tobytes() for each in found}) == 1
        else:
            exact(program, {"pi": x, "r": y}, 3, want)


def random_program(rng: np.random.Generator) -> dict[str, Any]:
    """Return a program of fifty operations, and what NumPy makes of each."""
    shapes = ["run", "arm", "sample", "sample_arm", "run", "run"]
    code: list[tuple[Any, ...]] = []
    for to in range(len(shapes), 50):
        kind = rng.integers(4)
        x, y = (int(i) for i in rng.integers(to, size=2))
        both = {shapes[x], shapes[y]} - {"run"}
        if kind == 0:
            axes = [n for n in ("arm", "sample") if n in shapes[x].split("_")]
            if axes:
                axis = str(rng.choice(axes))
                left = [n for n in shapes[x].split("_") if n != axis]
                shapes.append(left[0] if left else "run")
                name = str(rng.choice(["sum", "mean", "min", "max", "std"]))
                code.append((f"{name}_{axis}s", to, x))
                continue
        if kind == 1:
            shapes.append(shapes[x])
            code.append((str(rng.choice(["neg", "abs", "sign", "sqrt", "copy"])), to, x))
            continue
        shapes.append("run" if not both else both.pop() if len(both) == 1 else "sample_arm")
        name = str(rng.choice([n for n in BINARY if n not in ("div", "pow")]))
        code.append((name, to, x, y))
    outputs = [(f"y{i}", int(i)) for i in rng.choice(np.arange(20, 50), size=4, replace=False)]
    return {
        "registers": shapes,
        "constants": [(4, 0.5), (5, -2.0)],
        "inputs": [("x0", 0), ("x1", 1), ("x2", 2), ("x3", 3)],
        "code": code,
        "outputs": outputs,
    }


def by_numpy(parts: dict[str, Any], inputs: dict[str, Floats]) -> list[Floats]:
    values = [*inputs.values(), *(np.full(LANES, value) for _, value in parts["constants"])]
    shapes = parts["registers"]
    for name, to, *operands in parts["code"]:
        x = values[operands[0]]
        if name in BINARY:
            pair = (widened(values[i], shapes[i], shapes[to]) for i in operands)
            values.append(BINARY[name](*pair))
        elif name in UNARY:
            values.append(UNARY[name](x))
        else:
            reduction, axis = name.split("_")
            place = 1 if axis == "arms" and shapes[operands[0]] == "sample_arm" else 0
            values.append(REDUCTIONS[reduction](x, axis=place))
    return values


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed: int) -> None:
    """Rows are reused: a wrong reuse would show in some of these."""
    rng = np.random.default_rng(seed)
    parts = random_program(rng)
    program = _core.Program(**parts)
    inputs = {
        f"x{i}": rng.normal(size=(*EXTENT[s], LANES)) for i, s in enumerate(parts["registers"][:4])
    }
    want = by_numpy(parts, inputs)
    first = run(program, inputs)
    for name, number in parts["outputs"]:
        np.testing.assert_allclose(first[name], want[number], rtol=1e-9, atol=1e-9)
    for isa, block in itertools.product(ISAS, (8, 16, 64)):
        again = run(program, inputs, isa=isa, block=block)
        assert all(np.array_equal(first[n], again[n], equal_nan=True) for n in first)


def test_what_is_wrong_is_named() -> None:
    good: dict[str, Any] = {
        "registers": ["arm", "run"],
        "constants": [],
        "inputs": [("r", 0)],
        "code": [("sum_arms", 1, 0)],
        "outputs": [("value", 1)],
    }
    program = _core.Program(**good)
    with pytest.raises(ValueError, match=r"'r'.*nothing.*expected an array"):
        _core.run_program(program, {}, arms=2)
    with pytest.raises(ValueError, match="wrong shape"):
        _core.run_program(program, {"r": np.zeros((3, 4))}, arms=2)
    with pytest.raises(ValueError, match="block = 7"):
        _core.run_program(program, {"r": np.zeros((2, 4))}, arms=2, block=7)
    with pytest.raises(TypeError, match="Program made by its constructor"):
        _core.run_program(None, {}, arms=2)  # type: ignore[arg-type]
    values: list[dict[str, Any]] = [
        {"code": [("sum_arms", 1)]},
        {"code": [("sum_arms", 1, 99)]},
        {"code": [("sum_arms", 1, 1)]},
        {"code": [("fly", 1, 0)]},
        {"code": [("add", 1, 0, 0)]},
        {"code": [("sum_arms", 0, 0)]},
        {"outputs": [("value", -1)]},
        {"registers": ["arm", "arms"]},
        {"constants": [(1, np.nan)]},
        {"code": [("sum_arms", 1, 0)] * 5000},
    ]
    for wrong in values:
        with pytest.raises(ValueError, match="is not allowed; expected"):
            _core.Program(**{**good, **wrong})
    types: list[dict[str, Any]] = [
        {"code": [("sum_arms", 1.5, 0)]},
        {"code": [7]},
        {"code": None},
    ]
    for wrong in types:
        with pytest.raises(TypeError):
            _core.Program(**{**good, **wrong})
