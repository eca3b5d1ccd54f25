"""Stores damaged at random: opened, verified and run again, nothing may pass for the truth.

As a program, ``python damaged_stores.py SEED STORES DIRECTORY`` damages so many stores and prints
what it counted. What hangs ends the program with the traceback of where it was.
"""

from __future__ import annotations

import faulthandler
import json
import os
import random
import shutil
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import committal as cm
from committal.paper import entry as entries
from committal.study.opening import examined, stored_study
from committal.study.store.store import Store
from committal.support import notation

HANGS = 30.0  # seconds until a use that does not end ends the program
UNTIL = cm.Precision("failure", 0.05, below=0.9)
BASE = cm.Experiment(
    cm.Bandit([1.0, 0.7, 0.0]),
    cm.Softmax([0, 3, 5]),
    cm.Natural(0.1),
    steps=20,
    record=cm.Record("value", every=10),
)
STUDY = cm.Study(BASE, {"update.step_size": [0.05, 0.2]}, runs=300, rng=0)
OTHER = cm.Study(BASE, {"update.step_size": [0.05, 0.3]}, runs=300, rng=1)
ODD = [None, True, -1, 0, 1, 7, 1.5, 10**12, 10**30, "", "x", "0" * 64, [], {}, [1], [None],
       {"a": 1}, "\ud800", float("nan"), [[[]]], "../../etc/passwd", "/dev/zero"]  # fmt: skip


def mutated(raw: bytes, rng: random.Random) -> bytes:
    """Change a few bytes, cut, repeat or insert."""
    if not raw:
        return b"x"
    at, length = rng.randrange(len(raw)), rng.choice([1, 1, 1, 2, 5, 50])
    match rng.randrange(6):
        case 0:
            return raw[:at]
        case 1:
            return raw[:at] + raw[at + length :]
        case 2:
            return raw[:at] + raw[at : at + length] * 2 + raw[at + length :]
        case 3:
            return raw[:at] + rng.randbytes(length) + raw[at:]
        case 4:
            return rng.randbytes(len(raw))
    return raw[:at] + bytes([raw[at] ^ (1 << rng.randrange(8))]) + raw[at + 1 :]


def edited(data: Any, rng: random.Random) -> Any:
    """Change one value somewhere in plain data."""
    if isinstance(data, dict) and data and rng.random() < 0.9:
        key = rng.choice(list(data))
        if rng.random() < 0.1:
            return {k: v for k, v in data.items() if k != key}
        return data | {key: edited(data[key], rng)}
    if isinstance(data, list) and data and rng.random() < 0.7:
        at = rng.randrange(len(data))
        return [*data[:at], edited(data[at], rng), *data[at + 1 :]]
    return rng.choice(ODD)


def resealed(file: Path, rng: random.Random) -> None:
    """Edit a sealed file as somebody would who knows how it is sealed."""
    content = edited(json.loads(file.read_text(encoding="utf-8")), rng)
    if isinstance(content, dict):
        content.pop("checksum", None)
    file.write_bytes(notation.sealed(content if isinstance(content, dict) else {"x": content}))


class Damage:
    """What is done to one directory; it says afterwards what that allows."""

    def __init__(self, root: Path, other: Path, rng: random.Random) -> None:
        self.root, self.other, self.rng = root, other, rng
        self.forged = False  # by somebody who knows the seals: then only errors are looked at
        self.missing = False  # files: then there are fewer runs, or no outcome
        self.stray = False  # files that nobody knows are never touched

    def once(self) -> None:
        """Damage one file, or add one."""
        rng = self.rng
        files = sorted(f for f in self.root.rglob("*") if f.is_file() and not f.is_symlink())
        if not files:
            return
        file = rng.choice([*files, *(f for f in files if f.suffix == ".json")])
        way = rng.randrange(10)
        if way <= 3:
            file.write_bytes(mutated(file.read_bytes(), rng))
        elif way == 4:
            file.unlink()
            self.missing = True
        elif way == 5:
            file.unlink()
            kind = rng.randrange(4)
            if kind == 0:
                os.mkfifo(file)
            elif kind == 1:
                file.symlink_to("/dev/zero")
            elif kind == 2:
                file.symlink_to("nowhere")
                self.missing = True
            else:
                file.mkdir()
        elif way == 6:
            source = rng.choice(sorted(f for f in self.other.rglob("*") if f.is_file()))
            file.write_bytes(source.read_bytes())
            self.forged = file.name == "manifest.json"  # all of another study is a study
        elif way == 7:
            a, b = file, rng.choice(files)
            one, two = a.read_bytes(), b.read_bytes()
            a.write_bytes(two)
            b.write_bytes(one)
        elif way == 8:
            self.stray = True
            (file.parent / rng.choice([".tmp-1", "x", "0-0.bin", "\udcff"])).write_bytes(b"stray")
        elif file.suffix == ".json":
            try:
                resealed(file, rng)
                self.forged = True
            except (ValueError, UnicodeError):
                file.write_bytes(b"")


class Uses:
    """What is done with damaged stores, and what came out."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.bad: list[str] = []

    def use(self, what: str, call: Callable[[], Any]) -> tuple[str, Any]:
        """ "refused", "warned" or "silent", and the answer."""
        self.counts["uses"] += 1
        faulthandler.dump_traceback_later(HANGS, exit=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                answer = call()
            except cm.CommittalError as error:
                str(error).encode("utf-8", "backslashreplace")
                return "refused", None
            except Exception as error:
                self.bad.append(f"{what}: {type(error).__name__}: {error}")
                return "failed", None
        odd = [str(w.message) for w in caught if not issubclass(w.category, cm.StoreWarning)]
        if odd:
            self.bad.append(f"{what}: warns of {odd[0]}")
        return ("warned" if caught else "silent"), answer

    def store(self, damage: Damage, expected: Any) -> None:
        """Open, verify and run again."""
        root = damage.root
        noticed = set()
        for verify in (False, True):
            said, data = self.use("open", lambda v=verify: cm.open(root, verify=v).load())
            noticed.add(said)
            if said == "silent" and not damage.forged and not data.identical(expected):
                fewer = int(data["count"].sum()) < int(expected["count"].sum())
                less = len(data.data_vars) < len(expected.data_vars)
                if not (damage.missing and (fewer or less)):
                    self.bad.append(f"open(verify={verify}) believes it")
        said, _ = self.use("examine", lambda: examined_store(root))
        noticed.add(said)
        said, _ = self.use("run", lambda: STUDY.run(root, progress=False, until=UNTIL, chunk=64))
        noticed.add(said)
        if said in ("warned", "silent") and not damage.forged:
            again, data = self.use("open again", lambda: cm.open(root, verify=True).load())
            mended = again == "silent" or (again == "warned" and damage.stray)
            if not mended or not data.identical(expected):
                self.bad.append(f"running again does not mend it: {again}")
        for said in ("refused", "warned", "silent"):
            if said in noticed:
                self.counts[f"stores {said}"] += 1
                break

    def entry(self, root: Path, expected: entries.Entry, forged: bool) -> None:
        """Read an entry of the reproduction."""
        said, found = self.use("entry", lambda: entries.read(root, "x"))
        if said == "silent" and found is not None and found != expected and not forged:
            self.bad.append("an entry is believed")
        self.counts["entries believed" if found is not None else "entries left out"] += 1


def examined_store(root: Path) -> Any:
    """What `committal info` looks at."""
    store = Store.open(root)
    return examined(store, stored_study(store), verify=True)


def attack(seed: int, stores: int, place: Path) -> tuple[Counter[str], list[str]]:
    """Damage so many stores and entries; count what came out, and what should not have."""
    rng = random.Random(seed)
    good, other = place / "good", place / "other"
    expected = STUDY.run(good, chunk=64, progress=False, until=UNTIL).load()
    expected = cm.open(good).load()
    OTHER.run(other, chunk=64, progress=False, until=UNTIL)
    made = entries.Entry("x", "t", "s", (), (("a", "b"),), (), (), (), 1.0, 1.0, "0", "stamp")
    uses = Uses()
    for number in range(stores):
        root = place / f"{number}"
        shutil.copytree(good, root)
        damage = Damage(root, other, rng)
        before = len(uses.bad)
        for _ in range(rng.choice([1, 1, 1, 2, 4])):
            damage.once()
        uses.store(damage, expected)
        uses.bad[before:] = [f"store {number}: {text}" for text in uses.bad[before:]]
        if len(uses.bad) == before:
            shutil.rmtree(root)
        shutil.rmtree(place / "entry", ignore_errors=True)
        made.write(place / "entry")
        written = entries.read(place / "entry", "x")
        assert written is not None
        damage = Damage(place / "entry", other, rng)
        damage.once()
        uses.entry(place / "entry", written, damage.forged)
    faulthandler.cancel_dump_traceback_later()
    uses.counts["stores"] = stores
    return uses.counts, uses.bad


if __name__ == "__main__":
    _counts, _bad = attack(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
    print(json.dumps({**_counts, "bad": _bad}))
