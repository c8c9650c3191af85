# SPDX-License-Identifier: Apache-2.0
"""Commands in processes of their own, forked on Linux from one that has loaded what commands need.

The tests run hundreds of commands, and loading is most of what a short one does. Everything after
it is as `python -m` has it: the module runs as `__main__`, with its own environment, folder and
output. What a command loads by itself is seen by `tests/test_imports.py`, and by each program that
a test starts as its user does.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import runpy
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path

ROOT = Path(__file__).parents[2]
FORKS = sys.platform == "linux"

Outputs = tuple[str | Connection, str]
"""Where standard output and standard error go: to files, and a pipe may take the first."""


def environment() -> dict[str, str]:
    """Return this process's environment, in which another one finds our modules."""
    return os.environ | {"PYTHONPATH": str(ROOT)}


def forked(module: str, arguments: Sequence[str], cwd: Path, outputs: Outputs) -> ForkServerProcess:
    """Start `python -m MODULE ARGUMENTS…`."""
    process = _forks().Process(
        target=_run, args=(module, arguments, cwd, environment(), outputs), name=module
    )
    process.start()
    return process


def pipe() -> tuple[Connection, Connection]:
    """Return the reading and the writing end of a pipe for a process's output."""
    return _forks().Pipe(duplex=False)


@cache
def _forks() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.support.preloaded", __name__])
    return context


def _run(
    module: str, arguments: Sequence[str], cwd: Path, env: Mapping[str, str], outputs: Outputs
) -> None:
    os.environ.clear()
    os.environ.update(env)
    time.tzset()
    for number, output in enumerate((os.devnull, *outputs)):
        if isinstance(output, str):
            opened = os.open(output, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            os.dup2(opened, number)
            os.close(opened)
        else:
            os.dup2(output.fileno(), number)
            output.close()
    sys.stdout = open(1, "w", closefd=False)
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(cwd)
    sys.argv = ["", *arguments]
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        atexit._run_exitfuncs()
