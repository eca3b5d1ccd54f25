"""Run the attack on the core, and the tests that call it most, under address and UB sanitizers.

    python tests/attack/sanitized.py [--calls N] [--seeds N ...] [--work DIRECTORY] [TEST ...]

The core is built with ``COMMITTAL_SANITIZE=address,undefined`` for one instruction set (by GCC;
cmake, a build tool and pybind11 must be there), laid next to a copy of the package, and used by an
ordinary interpreter with the library of the sanitizer loaded first. A report ends the process that
caused it, and with it this script. TEST are files for pytest; by default those of the core, of the
kernels against the oracle, and of running.

What cannot be asked here is left out: limits of memory, since the sanitizer's own map of it is far
larger, how fast Ctrl-C is answered, and leaks, since the interpreter keeps what it likes.
"""

from __future__ import annotations

import argparse
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from not_editable import SITECUSTOMIZE

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TESTS = (
    "tests/unit/core", "tests/unit/simulation", "tests/unit/lowering", "tests/equivalence",
    "tests/golden",
)  # fmt: skip
#: Tests that ask for what a sanitizer changes: memory, time, other instruction sets, other builds.
LEFT_OUT = (
    "memory or stay_small or fits or interrupt or ctrl or control or exit or quickly or cost or "
    "stub or mypy or instruction_set or practical or more_than_one"
)
# The limit of memory that the attack sets for itself would end every process here.
ATTACK = """
import json, sys, warnings
import numpy as np
sys.path.insert(0, {here!r})
import core_calls
np.seterr(all="ignore")
warnings.simplefilter("ignore")
core_calls.PATIENCE *= 10
core_calls.HANGS *= 10
counts, bad = core_calls.attack({seed}, {calls})
print(json.dumps({{**counts, "bad": bad}}))
sys.exit(bool(bad))
"""


def build(work: Path) -> None:
    """Build the core and lay it next to a copy of the package."""
    said = [sys.executable, "-m", "pybind11", "--cmakedir"]
    pybind11 = subprocess.run(said, check=True, capture_output=True, text=True).stdout.strip()
    version = runpy.run_path(str(ROOT / "python" / "committal" / "_version.py"))["__version__"]
    subprocess.run(
        [
            "cmake", "-S", str(ROOT), "-B", str(work / "build"),
            "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCOMMITTAL_DISPATCH=OFF",
            "-DCOMMITTAL_SANITIZE=address,undefined",
            "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=OFF",
            f"-DCMAKE_PREFIX_PATH={pybind11}", f"-DPython_EXECUTABLE={sys.executable}",
            f"-DSKBUILD_PROJECT_VERSION_FULL={version}",
        ],
        check=True,
    )  # fmt: skip
    command = ["cmake", "--build", str(work / "build"), "--target", "_core", "-j1"]
    subprocess.run(command, check=True)
    package = work / "path" / "committal"
    shutil.rmtree(package, ignore_errors=True)
    unwanted = shutil.ignore_patterns("_core*.so", "__pycache__")
    shutil.copytree(ROOT / "python" / "committal", package, ignore=unwanted)
    for core in (work / "build").glob("_core*.so"):
        shutil.copy(core, package)
    (package.parent / "sitecustomize.py").write_text(SITECUSTOMIZE)


def environment(work: Path) -> dict[str, str]:
    """Return variables with which an interpreter can load such a core."""

    def library(name: str) -> str:
        asked = ["g++", f"-print-file-name={name}"]
        return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()

    return {
        **os.environ,
        # The C++ library too: the sanitizer must find __cxa_throw when it is loaded.
        "LD_PRELOAD": f"{library('libasan.so')} {library('libstdc++.so')}",
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONPATH": str(work / "path"),
        "PYTHONMALLOC": "malloc",  # so that arrays of the interpreter are watched too
    }


def main() -> int:
    """Build, attack, test."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tests", nargs="*", default=list(TESTS))
    parser.add_argument("--calls", type=int, default=20_000, help="of each attack")
    parser.add_argument("--seeds", type=int, nargs="*", default=[11, 12])
    parser.add_argument("--work", type=Path, help="keep the build here")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = (given.work or Path(temporary)).resolve()
        build(work)
        variables = environment(work)
        failed = 0
        for seed in given.seeds:
            program = ATTACK.format(here=str(HERE), seed=seed, calls=given.calls)
            done = subprocess.run([sys.executable, "-c", program], env=variables, cwd=ROOT)
            failed += done.returncode != 0
        if given.tests:
            command = [sys.executable, "-m", "pytest", "-q", "-k", f"not ({LEFT_OUT})"]
            command += ["-p", "no:cacheprovider", *given.tests]
            failed += subprocess.run(command, env=variables, cwd=ROOT).returncode != 0
    print("nothing was found" if not failed else f"{failed} parts failed")
    return failed


if __name__ == "__main__":
    sys.exit(main())
