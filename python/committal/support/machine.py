"""What this machine offers to a run: cores, instruction sets and memory.

Cores and memory are read for the process, not for the hardware: a container or a batch job that
was given two of sixty-four cores, or four of five hundred gigabytes, gets two and four here.
"""

from __future__ import annotations

import os
import platform
from pathlib import Path

from committal import _core
from committal.support import limits
from committal.support.check import choice, integer

_CGROUP = Path("/sys/fs/cgroup")
_MEMINFO = Path("/proc/meminfo")
_CPUINFO = Path("/proc/cpuinfo")


def available_threads() -> int:
    """Cores that this process may use.

    Returns
    -------
    int
        At least 1.

    Examples
    --------
    >>> available_threads() >= 1
    True
    """
    process_cpu_count = getattr(os, "process_cpu_count", None)  # Python 3.13+
    if process_cpu_count is not None:
        return process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def threads_of(argument: str, value: object) -> int:
    """Return how many threads are meant: as many as asked for, or all that there are.

    Parameters
    ----------
    argument : str
        How the caller calls it.
    value : int or None
        What was asked for.

    Examples
    --------
    >>> threads_of("threads", 3), threads_of("threads", None) == available_threads()
    (3, True)
    """
    return available_threads() if value is None else integer(argument, value, 1, limits.THREADS)


def isa_of(argument: str, value: object) -> str:
    """Return the name of an instruction set that this machine has; ``"auto"`` is the best one.

    Examples
    --------
    >>> isa_of("isa", "auto")
    'auto'
    """
    names = ("auto", *_core.available()["isas"])
    return choice(argument, value, names)


def processor() -> str:
    """Name the processor, as well as the system knows it.

    Examples
    --------
    >>> len(processor()) > 0
    True
    """
    try:
        for line in _CPUINFO.read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name" and value.strip():
                return value.strip()
    except OSError:
        pass
    return platform.processor() or platform.machine() or "unknown"


def available_memory() -> int | None:
    """Bytes that this process can still take before it swaps or is killed.

    Returns
    -------
    int or None
        The least of what the operating system and the control group leave; None if neither
        tells.

    Examples
    --------
    >>> memory = available_memory()
    >>> memory is None or memory > 0
    True
    """
    known = [bytes_ for bytes_ in (_system_memory(), _cgroup_memory()) if bytes_ is not None]
    return min(known, default=None)


def _system_memory() -> int | None:
    try:
        for line in _MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        # Elsewhere all of the memory is the best bound that the standard library knows.
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _cgroup_memory() -> int | None:
    try:
        limit = int((_CGROUP / "memory.max").read_text())
        used = int((_CGROUP / "memory.current").read_text())
        # Page cache counts as used but is given back on demand.
        for line in (_CGROUP / "memory.stat").read_text().splitlines():
            if line.startswith("inactive_file "):
                used -= int(line.split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return max(limit - used, 0)
