# SPDX-License-Identifier: Apache-2.0
"""The referee of a drill: a real `referee serve`, which can be killed and started again."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress

from power.http_request import NO_ANSWER, answered
from referee.core.host_port import joined
from referee.errors import InputError, Unavailable
from referee.service.observation.processes import programs_under
from referee.service.setup.config import Config

CAN_FILL_DISK = hasattr(resource, "prlimit")
"""Whether this system lets a program limit the files of another one: Linux does."""

_READY_S = 90.0
_STOP_S = 25.0
_LOOK_S = 0.1
_ANSWER_S = 1.0


class DrillHost:
    """The processes of a referee that serves the drill's contest."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._said = config.storage.folder / "logs" / "serve.log"
        self._said.parent.mkdir(parents=True, exist_ok=True)
        self._process: subprocess.Popen[bytes] | None = None
        self._from = 0
        self._limited: dict[int, tuple[int, int]] = {}

    @property
    def console(self) -> str:
        """Return the console's URL."""
        return _url(self._config.server.console)

    @property
    def scoreboard(self) -> str | None:
        """Return the scoreboard's URL, or None without one."""
        audience = self._config.server.scoreboard
        return None if audience is None else _url(audience)

    def contest(self, lane: int) -> str:
        """Return the URL of a lane's contest server."""
        return _url(self._config.lane(lane).contest, self._config.server.contest_scheme)

    @property
    def is_up(self) -> bool:
        """Tell whether the referee was started and has not been killed since."""
        return self._process is not None and self._process.poll() is None

    @property
    def is_ready(self) -> bool:
        """Tell whether the referee that was started last has said that logins are accepted."""
        return self.is_up and any(line.startswith("ready") for line in self._lines())

    def start(self) -> None:
        """Start the referee, if it does not run."""
        if self.is_up:
            return
        self._limited.clear()
        self._from = self._said.stat().st_size if self._said.exists() else 0
        command = [sys.executable, "-m", "referee", "serve", "--config", str(self._config.path)]
        with self._said.open("ab") as said:
            self._process = subprocess.Popen(
                [*command, "--parent", str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                # Ctrl-C reaches the drill alone, which stops the referee in order.
                start_new_session=True,
            )

    def wait_until_ready(self, pause: Callable[[], None]) -> None:
        """Wait until logins are accepted; raise `InputError` or `Unavailable` if that fails."""
        deadline = time.monotonic() + _READY_S
        while not self.is_ready:
            if not self.is_up:
                raise InputError(f"The referee of the drill did not start. {self._last_line()}")
            if time.monotonic() > deadline:
                raise Unavailable(
                    f"The referee of the drill is not ready. {self._last_line()} See {self._said}."
                )
            pause()

    def stop(self) -> None:
        """Stop the referee and all its processes."""
        self.free_disk()
        if self._process is None:
            return
        if self.is_up:
            self._process.terminate()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self.cut_power()

    def cut_power(self) -> None:
        """Kill every process of the referee at once, as a power cut does."""
        if self._process is None:
            return
        for pid, _ in self.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()

    def kill(self, program: str) -> None:
        """Kill one of the referee's programs with its workers: `desk` or `contest`."""
        for pid, name in self.processes():
            if name == program or name.startswith(f"{program}-"):  # The others are of lane 2, 3….
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def fill_disk(self) -> None:
        """Let the referee's processes write to no file, until `free_disk`.

        Processes that they start meanwhile inherit the limit, and `free_disk` finds them too.
        """
        for pid, _ in self.processes():
            with suppress(ProcessLookupError, PermissionError):
                soft, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, hard))
                self._limited[pid] = (soft, hard)

    def free_disk(self) -> None:
        """Let the referee's processes write again."""
        if not self._limited:
            return
        before = next(iter(self._limited.values()))
        for pid, _ in self.processes():
            with suppress(ProcessLookupError, PermissionError):
                resource.prlimit(pid, resource.RLIMIT_FSIZE, self._limited.get(pid, before))
        self._limited.clear()

    def answers(self, url: str) -> bool:
        """Tell whether a server of the drill answers now."""
        try:
            with answered(url, timeout_s=_ANSWER_S) as answer:
                return answer.status == 200
        except NO_ANSWER:
            return False

    def processes(self) -> list[tuple[int, str]]:
        """Return process id and program of the referee and all its descendants."""
        if self._process is None or self._process.returncode is not None:
            return []
        return programs_under(self._process.pid)

    def _lines(self) -> list[str]:
        if not self._said.exists():
            return []
        with self._said.open("rb") as said:
            said.seek(self._from)
            return said.read().decode("utf-8", "replace").splitlines()

    def _last_line(self) -> str:
        return next((line for line in reversed(self._lines()) if line.strip()), "").strip()


def _url(address: str, scheme: str = "http") -> str:
    host, _, port = address.rpartition(":")
    host = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "[::]": "::1"}.get(host, host)
    return f"{scheme}://{joined(host, port)}"
