# SPDX-License-Identifier: Apache-2.0
"""A process with limits, for work that may hang, crash, or fill memory and disk.

The limits hold back a broken model and a careless one. They are no wall against a model that makes
LiteRT execute code: run entries of strangers under a user of their own, or in a container.
"""

from __future__ import annotations

import contextlib
import os
import resource
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO

_CHUNK = 65_536
_KEPT_ERRORS = 8_192


@dataclass(frozen=True)
class Limits:
    """What a confined process may use: wall and processor time, address space, output in bytes."""

    seconds: float = 120.0
    memory_bytes: int = 2 << 30
    output_bytes: int = 32 << 20


@dataclass(frozen=True)
class Ended:
    """How a confined process ended: `code` is its exit code, negative for a signal.

    `output` is its standard output, `errors` the end of its standard error. `timed_out` and
    `overflowed` tell which limit made the referee kill it.
    """

    code: int
    output: bytes
    errors: str
    timed_out: bool = False
    overflowed: bool = False

    @property
    def signal_name(self) -> str | None:
        """Return the name of the signal that ended the process, or None."""
        if self.code >= 0:
            return None
        try:
            return signal.Signals(-self.code).name
        except ValueError:
            return f"signal {-self.code}"


def confine_myself(limits: Limits) -> None:
    """Set the limits of the calling process, which cannot take them back.

    The alarm ends the process at the wall-clock limit even if its parent is gone, and inside
    native code too.
    """
    cpu_s = int(limits.seconds) + 1
    for kind, value in (
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(kind, (value, value))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, limits.seconds + 1)


def run_confined(
    command: Sequence[str],
    job: bytes,
    limits: Limits,
    on_lines: Callable[[int], None] = lambda lines: None,
) -> Ended:
    """Run a command that calls `confine_myself`, and kill it when it passes a limit.

    The command finds `job` on its standard input, which is a file: no reader has to keep up.
    `on_lines` gets the number of lines of output so far, each time that there are more.
    """
    with tempfile.TemporaryFile() as stdin:
        stdin.write(job)
        stdin.seek(0)
        process = subprocess.Popen(
            command,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # So that its own children die with it.
        )
    if process.stdout is None or process.stderr is None:
        raise RuntimeError("a process has no pipes though it was asked for them")
    try:
        with process.stdout, process.stderr:
            said = _watch(process, process.stdout, process.stderr, limits, on_lines)
    finally:
        _kill(process)
    return Ended(process.returncode, *said)


def _watch(
    process: subprocess.Popen[bytes],
    stdout: IO[bytes],
    stderr: IO[bytes],
    limits: Limits,
    on_lines: Callable[[int], None],
) -> tuple[bytes, str, bool, bool]:
    """Read until the process ends or passes a limit; return the fields of `Ended` but the code."""
    deadline_s = time.monotonic() + limits.seconds
    output, errors, lines = bytearray(), b"", 0
    timed_out = overflowed = False
    with selectors.DefaultSelector() as selector:
        selector.register(stdout, selectors.EVENT_READ)
        selector.register(stderr, selectors.EVENT_READ)
        while selector.get_map() and not (timed_out or overflowed):
            for key, _ in selector.select(max(0.0, deadline_s - time.monotonic())):
                chunk = os.read(key.fd, _CHUNK)
                if not chunk:
                    selector.unregister(key.fileobj)
                elif key.fileobj is stderr:
                    errors = (errors + chunk)[-_KEPT_ERRORS:]
                else:
                    output += chunk
                    lines += chunk.count(b"\n")
                    on_lines(lines)
            timed_out = time.monotonic() >= deadline_s
            overflowed = len(output) > limits.output_bytes
    if not (timed_out or overflowed):
        # The process has closed its pipes, and may still run.
        try:
            process.wait(max(0.0, deadline_s - time.monotonic()))
        except subprocess.TimeoutExpired:
            timed_out = True
    return bytes(output), errors.decode("utf-8", "replace"), timed_out, overflowed


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill whatever is left of the process's session, its own children included."""
    # Nobody is left; or, on macOS, nobody but the ended process itself.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
