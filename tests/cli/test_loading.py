"""Ctrl-C is answered before the commands are there, too."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

PROGRAM = """
    import builtins, os, signal, sys, time

    usual = builtins.__import__

    def slow(name, *others):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)
        return usual(name, *others)

    builtins.__import__ = slow
    sys.argv = ["committal", "--version"]
    from committal.cli.entry import main
    main()
"""


@pytest.mark.parametrize("module", ["typer", "numpy"])
def test_while_the_commands_are_loaded(module: str) -> None:
    program = textwrap.dedent(PROGRAM.format(module=module))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "committal: interrupted\n"


def test_nothing_else_is_changed() -> None:
    program = """
        import signal
        import committal.cli.entry
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        from committal.cli.interrupts import interrupted_while_loading
        with interrupted_while_loading():
            assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with interrupted_while_loading():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)
