# SPDX-License-Identifier: Apache-2.0
"""Commands that run to their end, each in a process of its own.

On Linux that process is forked from one that has loaded what commands need, because the tests run
hundreds of them, and loading is most of what a short one does. Everything after it is as
`python -m` has it: the module runs as `__main__`, with its own environment, folder and output. What
a command loads by itself is seen by `tests/test_imports.py`, and by each program that a test starts
and lets run.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import cache
from multiprocessing.context import ForkServerContext
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_PATIENCE_S = 180.0


def finished(
    module: str, *arguments: str, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `python -m MODULE ARGUMENTS…` to its end."""
    command = [sys.executable, "-m", module, *arguments]
    env = os.environ | {"PYTHONPATH": str(_ROOT)}
    if sys.platform != "linux":
        return subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE_S, cwd=cwd, env=env
        )
    with tempfile.TemporaryDirectory() as name:
        outputs = [os.path.join(name, "out"), os.path.join(name, "err")]
        process = _forks().Process(
            target=_run, args=(module, arguments, cwd or Path.cwd(), env, outputs), name=module
        )
        process.start()
        process.join(_PATIENCE_S)
        if process.is_alive():
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(command, _PATIENCE_S)
        told = [Path(path).read_text() for path in outputs]
    code = process.exitcode
    process.close()
    assert code is not None
    return subprocess.CompletedProcess(command, code, *told)


@cache
def _forks() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.support.preloaded", __name__])
    return context


def _run(
    module: str, arguments: Sequence[str], cwd: Path, env: Mapping[str, str], outputs: Sequence[str]
) -> None:
    os.environ.clear()
    os.environ.update(env)
    time.tzset()
    for number, path in enumerate((os.devnull, *outputs)):
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdout = open(1, "w", closefd=False)
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(cwd)
    sys.argv = ["", *arguments]
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        atexit._run_exitfuncs()
