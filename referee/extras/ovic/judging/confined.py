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
from pathlib import Path
from typing import IO

from referee.extras.ovic.rules.pace import PATIENCE, Pace, pace_of

_CHUNK = 65_536
_KEPT_ERRORS = 8_192
_LOOK_S = 0.01


@dataclass(frozen=True)
class Limits:
    """What a confined process may use: wall and processor time, address space, output in bytes.

    Wall-clock time that it waits for its core does not count, up to `longest_s` in all.
    """

    seconds: float = 120.0
    memory_bytes: int = 2 << 30
    output_bytes: int = 32 << 20

    @property
    def longest_s(self) -> float:
        """Return the longest wall-clock time, with all waiting for the core."""
        return PATIENCE * self.seconds


@dataclass(frozen=True)
class ProcessEnd:
    """How a confined process ended: `code` is its exit code, negative for a signal.

    `output` is its standard output, `errors` the end of its standard error. The referee kills what
    is TOO_SLOW by its own time, what is BUSY waiting for its core until the longest time is over,
    and what has `overflowed`.
    """

    code: int
    output: bytes
    errors: str
    pace: Pace = Pace.FAST_ENOUGH
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

    The alarm ends the process after its longest time even if its parent is gone, and inside native
    code too.
    """
    cpu_s = int(limits.seconds) + 1
    for kind, soft, most in (
        (resource.RLIMIT_AS, limits.memory_bytes, limits.memory_bytes),
        # At the hard limit Linux sends SIGKILL, which says nothing of the time; before it SIGXCPU.
        (resource.RLIMIT_CPU, cpu_s, cpu_s + 1),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        _, hard = resource.getrlimit(kind)
        if hard != resource.RLIM_INFINITY:
            soft, most = min(soft, hard), min(most, hard)
        resource.setrlimit(kind, (soft, most))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, limits.longest_s + 1)


def run_confined(
    command: Sequence[str],
    job: bytes,
    limits: Limits,
    on_lines: Callable[[int], None] = lambda lines: None,
) -> ProcessEnd:
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
    return ProcessEnd(process.returncode, *said)


def _watch(
    process: subprocess.Popen[bytes],
    stdout: IO[bytes],
    stderr: IO[bytes],
    limits: Limits,
    on_lines: Callable[[int], None],
) -> tuple[bytes, str, Pace, bool]:
    """Read until the process ends or passes a limit; return the fields of `ProcessEnd`, no code."""
    patience = Patience(limits, lambda: waited_s(process.pid))
    output, errors, lines = bytearray(), b"", 0
    pace, overflowed = Pace.FAST_ENOUGH, False
    with selectors.DefaultSelector() as selector:
        selector.register(stdout, selectors.EVENT_READ)
        selector.register(stderr, selectors.EVENT_READ)
        while selector.get_map() and pace is Pace.FAST_ENOUGH and not overflowed:
            for key, _ in selector.select(patience.left_s()):
                chunk = os.read(key.fd, _CHUNK)
                if not chunk:
                    selector.unregister(key.fileobj)
                elif key.fileobj is stderr:
                    errors = (errors + chunk)[-_KEPT_ERRORS:]
                else:
                    output += chunk
                    lines += chunk.count(b"\n")
                    on_lines(lines)
            pace = patience.pace()
            overflowed = len(output) > limits.output_bytes
    while pace is Pace.FAST_ENOUGH and not overflowed:
        # The process has closed its pipes, and may still run.
        try:
            process.wait(patience.left_s())
            break
        except subprocess.TimeoutExpired:
            pace = patience.pace()
    return bytes(output), errors.decode("utf-8", "replace"), pace, overflowed


class Patience:
    """How long a process may still take: what it waits for its core is not its own time.

    `waited_s` tells how long it has waited so far. `clock` is a monotonic one, in seconds.
    """

    def __init__(
        self,
        limits: Limits,
        waited_s: Callable[[], float],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limits = limits
        self._waited_s = waited_s
        self._clock = clock
        self._began_s = clock()

    def left_s(self) -> float:
        """Return after how many seconds to look at `pace` again, a bit more than 0."""
        took_s, own_s = self._took_s()
        return max(_LOOK_S, min(self._limits.seconds - own_s, self._limits.longest_s - took_s))

    def pace(self) -> Pace:
        """Return FAST_ENOUGH as long as the process may go on, and then why it may not."""
        took_s, own_s = self._took_s()
        pace = pace_of([(took_s, own_s)], self._limits.seconds)
        goes_on = pace is Pace.BUSY and took_s < self._limits.longest_s
        return Pace.FAST_ENOUGH if goes_on else pace

    def _took_s(self) -> tuple[float, float]:
        """Return the wall-clock time so far, and what of it was the process's own."""
        took_s = self._clock() - self._began_s
        # Only a process that is late is asked.
        return took_s, took_s - (self._waited_s() if took_s > self._limits.seconds else 0.0)


def waited_s(pid: int) -> float:
    """Return how long a process has waited for its core; 0 where the system does not tell."""
    try:
        # Linux: time on the core and time in the line for it, in nanoseconds, and its turns.
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill whatever is left of the process's session, its own children included."""
    # Nobody is left; or, on macOS, nobody but the ended process itself.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
