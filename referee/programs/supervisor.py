# SPDX-License-Identifier: Apache-2.0
"""Start the referee's processes, replace one that dies, and stop them all."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from referee.errors import InputError, Unavailable
from referee.service.desk.link import prepare_socket_folder, socket_path
from referee.service.setup.config import Config

_READY_S = 60.0
_STOP_S = 10.0
_LOOK_S = 0.2
# A process that dies again and again is started ever more slowly.
_RESTART_FIRST_S = 0.2
_RESTART_MOST_S = 5.0
_STEADY_S = 30.0

_TITLES = {"desk": "control desk", "contest": "contest server", "scorer": "live scorer"}

_log = logging.getLogger(__name__)


def bind(address: str, purpose: str) -> socket.socket:
    """Bind and listen on `HOST:PORT`, port 0 meaning any free one.

    Raises `InputError` for an address that is none, is not this machine's, or is in use.
    """
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise InputError(
            f"'{address}' is not an address for the {purpose}: give HOST:PORT, for example "
            "127.0.0.1:8000."
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host.strip("[]"), int(port)))
        listener.listen(512)
    except OSError as error:
        listener.close()
        raise InputError(
            f"The {purpose} cannot listen on {address}: {error.strerror}. Stop the program that "
            f"uses the port, or choose another: option --{purpose.split()[0]}, in contest.toml "
            f"[server] {purpose.split()[0]}."
        ) from error
    return listener


@dataclass
class _Process:
    """Keep one child alive: its command, and when and how often it was started."""

    name: str
    command: Sequence[str]
    descriptors: Sequence[int]
    log: Path
    child: subprocess.Popen[bytes] | None = None
    started_s: float = 0.0
    restart_s: float = _RESTART_FIRST_S
    environment: dict[str, str] = field(default_factory=dict)

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.child = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=self.descriptors,
                # Ctrl-C goes to the supervisor alone, which stops the others in order.
                start_new_session=True,
            )
        self.started_s = time.monotonic()


class Supervisor:
    """Own the listening sockets and the children; a child that is replaced finds them bound.

    `meter_resource` is the meter's VISA resource, None for sessions without one. `alarm` gets a
    sentence when a child has died. Use it as a context manager: leaving it stops everything that
    was started.
    """

    def __init__(
        self,
        config: Config,
        meter_resource: str | None,
        *,
        alarm: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._config = config
        self._alarm = alarm
        self._stopping = threading.Event()
        self._contest = bind(config.server.contest, "contest server")
        try:
            self._console = bind(config.server.console, "console server")
        except InputError:
            self._contest.close()
            raise
        prepare_socket_folder(socket_path(config.storage.folder))
        logs = config.storage.folder / "logs"
        logs.mkdir(parents=True, exist_ok=True)
        host, port = self._contest.getsockname()[:2]
        told = ["--contest", f"{host}:{port}"]
        told += [] if meter_resource is None else ["--meter", meter_resource]
        self._processes = [
            self._process("desk", logs, self._console, *told),
            self._process("contest", logs, self._contest),
            self._process("scorer", logs, None),
        ]
        self._watcher = threading.Thread(target=self._watch, name="supervisor", daemon=True)

    @property
    def contest_url(self) -> str:
        """Return where contestants reach the contest server from this machine."""
        return _url(self._contest)

    @property
    def console_url(self) -> str:
        """Return where operators reach the console from this machine."""
        return _url(self._console)

    def pids(self) -> dict[str, int]:
        """Return the process ids of the children by name."""
        return {p.name: p.child.pid for p in self._processes if p.child is not None}

    def __enter__(self) -> Supervisor:
        for process in self._processes:
            process.start()
        self._watcher.start()
        try:
            self._wait_until_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop every child, by force after ten seconds; safe to call twice."""
        self._stopping.set()
        if self._watcher.is_alive():
            self._watcher.join()
        children = [p.child for p in self._processes if p.child is not None]
        for child in children:
            if child.poll() is None:
                child.terminate()
        deadline = time.monotonic() + _STOP_S
        for child in children:
            try:
                child.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
        self._contest.close()
        self._console.close()

    def _process(
        self, name: str, logs: Path, listener: socket.socket | None, *options: str
    ) -> _Process:
        command = [sys.executable, "-m", "referee", "process", name]
        command += ["--config", str(self._config.path), "--parent", str(os.getpid()), *options]
        descriptors = [] if listener is None else [listener.fileno()]
        if listener is not None:
            command += ["--descriptor", str(listener.fileno())]
        return _Process(name, command, descriptors, logs / f"{name}.log")

    def _watch(self) -> None:
        while not self._stopping.wait(_LOOK_S):
            for process in self._processes:
                try:
                    self._look_after(process)
                except Exception:
                    # Out of processes or of disk for the log: it is tried again at the next look.
                    _log.exception("%s could not be started again", process.name)

    def _look_after(self, process: _Process) -> None:
        """Start a child that has ended again; one that ends again and again waits longer."""
        child = process.child
        if child is None or child.poll() is None:
            return
        age = time.monotonic() - process.started_s
        if age > _STEADY_S:
            process.restart_s = _RESTART_FIRST_S
        if age < process.restart_s:
            return
        text = (
            f"The {_TITLES[process.name]} ended ({child.returncode}) and is started again; "
            f"{process.log} says why."
        )
        _log.error("%s", text)
        first = process.restart_s == _RESTART_FIRST_S
        process.restart_s = min(2 * process.restart_s, _RESTART_MOST_S)
        process.start()
        if first:
            self._alarm(text)

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + _READY_S
        for url in (f"{self.console_url}/board", f"{self.contest_url}/help"):
            while not _answers(url):
                if time.monotonic() > deadline:
                    raise Unavailable(
                        f"{url} does not answer; see the logs in "
                        f"{self._config.storage.folder / 'logs'}."
                    )
                if self._stopping.wait(_LOOK_S / 4):
                    raise Unavailable("stopped before everything was ready.")


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "::1": "[::1]"}.get(host, host)
    return f"http://{host}:{port}"


def _answers(url: str) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=5) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False
