"""Plant every bug of mutants.toml in a copy of the tree, and show that the tests notice each.

    python tests/mutants/run.py [--python | --cpp] [--only NAME ...] [--work DIRECTORY] [--list]

The tests that a mutant names are run without it first: they must pass (``--unchecked`` believes
it). Then they must fail with it.

C++ is built for one instruction set into the directory of work, which is kept if it is given, so
that the next time only what has changed is built; cmake, a build tool and pybind11 must be there.
The end is a table; the exit code is the number of bugs that nobody noticed, at most 100.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
from planting import ROOT, Mutant, mutants, planted

from not_editable import SITECUSTOMIZE

SECONDS = 900  # for the tests of one mutant; longer means that they hang


class Workshop:
    """A copy of the tree in which bugs are planted and pulled out again."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.tree = directory, directory / "tree"
        self.build, self.path = directory / "build", directory / "path"
        names = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT, check=True, capture_output=True, text=True,
        ).stdout.split("\0")  # fmt: skip
        for name in filter(None, names):
            # Files that have not changed keep their times, and are not built again.
            old, new = self.tree / name, ROOT / name
            if not new.exists():
                continue
            data = new.read_bytes()
            if (
                name == "CMakeLists.txt"
            ):  # kernels are compiled in half of the time, to the same bits
                assert b"PRIVATE -O3)" in data
                data = data.replace(b"PRIVATE -O3)", b"PRIVATE -O1)")
            if not old.exists() or old.read_bytes() != data:
                old.parent.mkdir(parents=True, exist_ok=True)
                old.write_bytes(data)
        self.path.mkdir(exist_ok=True)
        (self.path / "sitecustomize.py").write_text(SITECUSTOMIZE)

    @property
    def package(self) -> Path:
        """Where the package of the copy is."""
        return self.tree / "python" / "committal"

    def borrow_core(self) -> None:
        """Take the core that this interpreter uses: for bugs in Python any one will do."""
        spec = importlib.util.find_spec("committal._core")
        if spec is None or spec.origin is None:
            raise SystemExit("committal is not installed here: its core is needed")
        self._place(Path(spec.origin))

    def _place(self, core: Path) -> None:
        for old in self.package.glob("_core.*"):
            if old.suffix != ".pyi":
                old.unlink()
        shutil.copyfile(core, self.package / core.name)

    def configure(self) -> None:
        """Prepare the build."""
        pybind11 = self._said([sys.executable, "-m", "pybind11", "--cmakedir"])
        version = runpy.run_path(str(self.package / "_version.py"))["__version__"]
        self._said([
            "cmake", "-S", str(self.tree), "-B", str(self.build), "-DCMAKE_BUILD_TYPE=Release",
            f"-DCMAKE_PREFIX_PATH={pybind11}", f"-DPython_EXECUTABLE={sys.executable}",
            f"-DSKBUILD_PROJECT_VERSION_FULL={version}",
            "-DCOMMITTAL_DISPATCH=OFF", "-DCOMMITTAL_TESTS=ON",
            "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=OFF",
        ])  # fmt: skip

    def compile(self, target: str) -> str:
        """Build one target; return what the compiler complained of, or nothing."""
        done = subprocess.run(
            ["cmake", "--build", str(self.build), "--target", target, "-j1"],
            capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode:
            return done.stdout + done.stderr
        if target == "_core":
            self._place(next(self.build.glob("_core*.so")))
        return ""

    def ask(self, tests: Iterable[str], *, workers: str = "0") -> tuple[str, str]:
        """Run tests: who failed first ("" if all pass), and the output."""
        units = [test.removeprefix("cpp:") for test in tests if test.startswith("cpp:")]
        files = [test for test in tests if not test.startswith("cpp:")]
        if units:
            complaint = self.compile("committal_tests")
            if complaint:
                noticed = "the compiler" if "static assertion" in complaint else ""
                return (noticed or "?", complaint)
            for unit in units:
                try:
                    done = self._run([str(self.build / "committal_tests"), unit])
                except subprocess.TimeoutExpired:
                    return "the clock", f"more than {SECONDS} s"
                if done.returncode:
                    return f"cpp:{unit}", done.stdout
        if not files:
            return "", ""
        try:
            done = self._run([
                sys.executable, "-m", "pytest", "-x", "-q", "-n", workers, "-p", "no:cacheprovider",
                "--tb=line", *files,
            ])  # fmt: skip
        except subprocess.TimeoutExpired:
            return "the clock", f"more than {SECONDS} s"
        if done.returncode == 0:
            return "", done.stdout
        if done.returncode < 0:
            return f"signal {-done.returncode}", done.stdout
        if done.returncode != 1:
            return "?", done.stdout + done.stderr
        failed = [line for line in done.stdout.split("\n") if line.startswith(("FAILED", "ERROR"))]
        return (
            failed[0].partition(" ")[2].partition(" - ")[0] if failed else "a test"
        ), done.stdout

    def _run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join([str(self.path), str(self.package.parent)])
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(
            command, cwd=self.tree, env=environment, timeout=SECONDS, capture_output=True, text=True
        )

    def check_place(self) -> None:
        """Make sure that the tests look at the copy."""
        done = self._run([sys.executable, "-c", "import committal; print(committal.__file__)"])
        if not done.stdout.startswith(str(self.package)):
            raise SystemExit(f"the copy is not what is imported: {done.stdout}{done.stderr}")

    @staticmethod
    def _said(command: list[str]) -> str:
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def fate(shop: Workshop, mutant: Mutant) -> str:
    """Plant one bug, ask its tests, and pull it out; return who noticed, or nothing."""
    file = shop.tree / mutant.file
    honest = file.read_text(encoding="utf-8")
    file.write_text(planted(mutant, honest), encoding="utf-8")
    try:
        if mutant.compiled and not all(test.startswith("cpp:") for test in mutant.tests):
            complaint = shop.compile("_core")
            if complaint:
                raise SystemExit(f"{mutant.name} does not compile:\n{complaint[-3000:]}")
        noticed, output = shop.ask(mutant.tests)
        if noticed == "?":
            raise SystemExit(f"{mutant.name}: the tests cannot be run:\n{output[-3000:]}")
        return noticed
    finally:
        file.write_text(honest, encoding="utf-8")


def main() -> int:
    """Plant the bugs that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--python", action="store_true", help="only bugs in Python")
    parser.add_argument("--cpp", action="store_true", help="only bugs in C++")
    parser.add_argument("--work", type=Path, help="keep the copy and the build here")
    parser.add_argument("--unchecked", action="store_true", help="do not run tests without bugs")
    parser.add_argument("--list", action="store_true", help="only say what there is")
    given = parser.parse_args()
    chosen = [
        mutant
        for mutant in mutants()
        if (not given.only or mutant.name in given.only)
        and not (given.python and mutant.compiled)
        and not (given.cpp and not mutant.compiled)
    ]
    if missing := set(given.only) - {mutant.name for mutant in chosen}:
        raise SystemExit(f"no such mutants: {', '.join(sorted(missing))}")
    for mutant in chosen:  # before anything is built
        planted(mutant, (ROOT / mutant.file).read_text(encoding="utf-8"))
    if given.list:
        for mutant in chosen:
            print(f"{mutant.name:<40} {mutant.file}\n    {mutant.why}")
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        shop = Workshop((given.work or Path(temporary)).resolve())
        if any(mutant.compiled for mutant in chosen):
            shop.configure()
            if complaint := shop.compile("_core"):
                raise SystemExit(complaint)
        else:
            shop.borrow_core()
        shop.check_place()
        everybody = sorted({test for mutant in chosen for test in mutant.tests})
        blamed, output = ("", "") if given.unchecked else shop.ask(everybody, workers="auto")
        if blamed:
            raise SystemExit(f"without any bug: {blamed}\n{output[-3000:]}")
        survivors = []
        for mutant in chosen:
            start = time.monotonic()
            noticed = fate(shop, mutant)
            seconds = time.monotonic() - start
            print(f"{'killed' if noticed else 'SURVIVED':<9}{seconds:5.0f} s  {mutant.name:<40} "
                  f"{noticed}", flush=True)  # fmt: skip
            if not noticed:
                survivors.append(mutant)
    print(f"\n{len(chosen) - len(survivors)} of {len(chosen)} planted bugs are killed")
    for mutant in survivors:
        print(f"survived: {mutant.name} ({mutant.file}): {mutant.why}")
    return min(len(survivors), 100)


if __name__ == "__main__":
    sys.exit(main())
