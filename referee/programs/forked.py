# SPDX-License-Identifier: Apache-2.0
"""Processes that a command forks before it opens anything, and that become a contest's programs.

All programs load nearly the same modules, which takes each of them longer than all of its work
before the first request. So the command loads them once, and its forks share them. That is safe
as long as there is no second thread, whose locks a fork would hold for ever, and no database,
because SQLite keeps a process's locks in its memory (https://sqlite.org/howtocorrupt.html). So the
processes are forked first, close every file, and wait for what they shall become. gevent's worker
patches its own process: gunicorn forks it from its arbiter, whether that was forked itself or not.

A program that has died is started again as a command: the supervisor has threads by then. So it is
where there is no fork without danger, which is everywhere but on Linux.
"""

from __future__ import annotations

import fcntl
import importlib
import json
import logging
import math
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

from referee.core.garbage import collections_paused, keep_what_is_loaded
from referee.programs.table import programs_of
from referee.service.setup.config import Config
from referee.service.setup.process_name import name_process

_MESSAGE_MOST_BYTES = 64 * 1024
_DESCRIPTORS_MOST = 16
_END_S = 10.0
_LOOK_S = 0.01
_THREADS = Path("/proc/self/task")
# What every server loads when it begins to work.
_SERVED = ("gunicorn.arbiter", "referee.web.server.mixed")


class Forked:
    """A process that waits for its command, and then is that program.

    It has what `Child` needs of `subprocess.Popen`.
    """

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()  # A fork would write once more what waits in them.
        self.pid = os.fork()
        if self.pid == 0:
            _become_what_is_told(theirs)
        theirs.close()
        self._link = ours
        self.returncode: int | None = None

    def run(
        self, command: Sequence[str], stdout: int, stderr: int, descriptors: Sequence[int]
    ) -> None:
        """Become the program of a command line `python -m PACKAGE …`, which keeps `descriptors`."""
        umask = os.umask(0)
        os.umask(umask)
        request = {"command": list(command), "umask": umask, "descriptors": list(descriptors)}
        with self._link as link:
            socket.send_fds(link, [json.dumps(request).encode()], [stdout, stderr, *descriptors])

    def dismiss(self) -> None:
        """End a process that nobody needs; one that runs a program goes on."""
        self._link.close()

    def poll(self) -> int | None:
        """Return the exit code, negative after a signal, or None while the process runs."""
        if self.returncode is None:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            if ended:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait for the end; raise `subprocess.TimeoutExpired` if it does not come in time."""
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        while self.poll() is None:
            if time.monotonic() >= deadline:
                raise subprocess.TimeoutExpired(["python"], timeout or 0.0)
            time.sleep(_LOOK_S)
        return self.returncode

    def terminate(self) -> None:
        """Ask the process to end."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGTERM)


@contextmanager
def forked_for(config: Config) -> Iterator[list[Forked]]:
    """Yield a process for each program and each emulated meter of a contest; none where unsafe.

    Enter this block before anything is opened and any thread begins.
    """
    if not _is_safe():
        yield []
        return
    programs = programs_of(config)
    with collections_paused():
        for program in programs:
            program.run.load()
        for name in _SERVED:
            importlib.import_module(name)
    keep_what_is_loaded()
    lanes = len(config.lanes)
    count = sum(lanes if program.of_lanes else 1 for program in programs)
    count += sum(lane.meter.emulated for lane in config.lanes)
    # What a library has begun at its import counts, too.
    waiting = [Forked() for _ in range(count)] if _is_safe() else []
    try:
        yield waiting
    finally:
        for process in waiting:
            process.dismiss()
        for process in waiting:
            process.wait(_END_S)


def _is_safe() -> bool:
    return sys.platform == "linux" and len(os.listdir(_THREADS)) == 1


def _become_what_is_told(link: socket.socket) -> NoReturn:
    """Wait for a command, be that program, and end without what its parent does at its own end."""
    code = 1
    try:
        os.setsid()  # Ctrl-C reaches the supervisor alone. It stops the other processes in order.
        command = _told(link)
        code = 0 if command is None else _main(command)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except KeyboardInterrupt:
        pass
    except BaseException:
        traceback.print_exc()
    finally:
        for thread in threading.enumerate():
            if not thread.daemon and thread is not threading.current_thread():
                thread.join()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                stream.flush()
        os._exit(code)


def _told(link: socket.socket) -> list[str] | None:
    """Return the command, with the open files that it shall have and no other; None for none."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    os.closerange(3, link.fileno())
    os.closerange(link.fileno() + 1, most if most > 0 else os.sysconf("SC_OPEN_MAX"))
    message, received, _, _ = socket.recv_fds(link, _MESSAGE_MOST_BYTES, _DESCRIPTORS_MOST)
    link.close()
    if not message:
        return None
    request = json.loads(message)
    os.umask(request["umask"])
    places = [1, 2, *request["descriptors"]]
    above = max(places) + 1
    moved = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, above) for descriptor in received]
    for descriptor in received:
        os.close(descriptor)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, place in zip([nothing, *moved], [0, *places], strict=True):
        os.dup2(source, place)
        os.close(source)
    _speak_anew()
    command: list[str] = request["command"]
    return command


def _speak_anew() -> None:
    """Make the streams for files that may be of another kind than before: a log, a pipe."""
    sys.stdout = open(1, "w", buffering=1, encoding=sys.stdout.encoding, closefd=False)
    sys.stderr = open(
        2, "w", buffering=1, encoding=sys.stderr.encoding, errors="backslashreplace", closefd=False
    )
    for handler in logging.getLogger().handlers:
        if isinstance(handler, logging.StreamHandler):
            handler.setStream(sys.stderr)


def _main(command: Sequence[str]) -> int:
    """Run `PYTHON -m PACKAGE WORDS…` in this process."""
    _, _, package, *words = command
    sys.argv = [package, *words]
    name_process(f"{package} {words[0]}")  # A program of ours then names itself.
    code: int = importlib.import_module(f"{package}.cli").main(words)
    return code
