"""A small assembler for programs, so that tests read like formulas."""

from __future__ import annotations

from typing import Any

from committal import _core

SHAPES = {
    "t": "run",
    "K": "run",
    "N": "run",
    "pi": "arm",
    "r": "arm",
    "theta": "arm",
    "theta0": "arm",
    "mu": "arm",
    "g": "arm",
    "a": "sample",
    "R": "sample",
    "rho": "sample",
    "b": "sample",
    "A": "sample",
    "w": "sample",
    "score": "sample_arm",
    "natural": "sample_arm",
}


class Builder:
    """Registers and code, one call per operation."""

    def __init__(self) -> None:
        self.registers: list[str] = []
        self.constants: list[tuple[int, float]] = []
        self.inputs: dict[str, int] = {}
        self.code: list[tuple[Any, ...]] = []
        self.outputs: list[tuple[str, int]] = []
        self.initial: dict[str, float] = {}

    def _new(self, shape: str) -> int:
        self.registers.append(shape)
        return len(self.registers) - 1

    def given(self, name: str, shape: str | None = None) -> int:
        """Return the register of an input."""
        if name not in self.inputs:
            self.inputs[name] = self._new(shape or SHAPES[name])
        return self.inputs[name]

    def state(self, name: str, shape: str, initial: float) -> int:
        """Return the register of a state."""
        self.initial[name] = initial
        return self.given(f"state:{name}", shape)

    def number(self, value: float) -> int:
        """Return the register of a constant."""
        self.constants.append((self._new("run"), value))
        return self.constants[-1][0]

    def __call__(self, op: str, *operands: int | float, power: int | None = None) -> int:
        """Append an operation; numbers that are floats become constants."""
        registers = [self.number(x) if isinstance(x, float) else x for x in operands]
        shapes = [self.registers[i] for i in registers]
        if op.endswith("_arms") and not op.startswith("others"):
            shape = "run" if shapes[0] == "arm" else "sample"
        elif op.endswith("_samples") and not op.startswith("others"):
            shape = "run" if shapes[0] == "sample" else "arm"
        elif op == "gather":
            shape = shapes[1]
        elif op == "onehot":
            shape = "arm" if shapes[0] == "run" else "sample_arm"
        else:
            wide = set(shapes) - {"run"}
            shape = "run" if not wide else wide.pop() if len(wide) == 1 else "sample_arm"
        to = self._new(shape)
        self.code.append((op, to, *registers, *(() if power is None else (power,))))
        return to

    def make(self, value: int, **more: int) -> _core.Program:
        """Return the program; ``state_x=`` is the next value of a state x."""
        outputs = [("value", value)]
        for name, register in more.items():
            outputs.append((name.replace("state_", "state:"), register))
        return _core.Program(
            registers=self.registers,
            constants=self.constants,
            inputs=list(self.inputs.items()),
            code=self.code,
            outputs=outputs,
            state=self.initial,
        )
