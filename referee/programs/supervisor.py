# SPDX-License-Identifier: Apache-2.0
"""The supervisor: it starts the referee's processes, restarts those that die, and stops them."""

from __future__ import annotations

import logging
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from power.http_request import NO_ANSWER, answered
from referee.core.host_port import joined
from referee.errors import InputError, Unavailable
from referee.programs.child import Child
from referee.programs.failed_start import SilentServer
from referee.programs.forked import Forked
from referee.programs.table import programs_of
from referee.service.desk.link import DeskClient, prepare_socket_folder, socket_path
from referee.service.setup.config import Config
from referee.service.setup.contest_tls import pinned_context
from referee.service.setup.folder_lock import wait_for_programs
from referee.service.setup.lane_config import lane_suffix
from referee.service.setup.lane_words import of_lane
from referee.service.setup.program import Program, command_of

_READY_S = 60.0
_STOP_S = 10.0
_LOOK_S = 0.2
# Obstacles that go away within this time are not reported.
_TELL_AFTER_S = 2.0
_TELL_EVERY_S = 10.0

_log = logging.getLogger(__name__)


def bind(address: str, purpose: str, option: str = "") -> socket.socket:
    """Return a socket that listens on `HOST:PORT`; port 0 means any free port.

    `option` says where the address can be changed; by default an option and a key of the purpose's
    first word. Raises `InputError` if the address is malformed, in use, or does not belong to this
    machine.
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
        if family == socket.AF_INET6:  # [::] is every address, whatever the system's default is.
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        listener.bind((host.strip("[]"), int(port)))
        listener.listen(512)
    except OSError as error:
        listener.close()
        name = purpose.split()[0]
        option = option or f"option --{name}, in contest.toml [server] {name}"
        raise InputError(
            f"The {purpose} cannot listen on {address}: {error.strerror}. Stop the program that "
            f"uses the port, or choose another: {option}."
        ) from error
    return listener


class Supervisor:
    """The owner of the listening sockets and of the processes that serve them.

    A restarted process inherits a socket that is already bound. `resources` has each lane's VISA
    resource, or `none` for sessions without a meter. The supervisor restarts `others` when they
    die, but neither starts nor stops them. The first starts take `forked`. `alarm` gets a sentence
    when a process has died. Use the supervisor as a context manager: its exit stops every process
    that it started.
    """

    def __init__(
        self,
        config: Config,
        resources: Sequence[str],
        *,
        others: Sequence[Child] = (),
        forked: Iterable[Forked] = (),
        alarm: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._config = config
        self._alarm = alarm
        self._forked = iter(forked)
        self._stopping = threading.Event()
        wait_for_programs(config.storage.folder, _STOP_S)
        programs = programs_of(config)
        self._listeners = _bound(config, programs)
        prepare_socket_folder(socket_path(config.storage.folder))
        (config.storage.folder / "logs").mkdir(parents=True, exist_ok=True)
        desk_options = []
        for bound, resource in zip(self._listeners["contest"], resources, strict=True):
            desk_options += ["--contest", joined(*bound.getsockname()[:2]), "--meter", resource]
        self._children: dict[str, Child] = {}
        for program in programs:
            sockets: Sequence[socket.socket | None] = self._listeners[program.name] or [None]
            options = desk_options if program.name == "desk" else []
            for number, listener in enumerate(sockets, 1):
                child = self._child(program, number, listener, options)
                self._children[f"{program.name}{lane_suffix(number)}"] = child
        self._looked_after = [*self._children.values(), *others]
        self._answered_s = 0.0
        self._watcher = threading.Thread(target=self._watch, name="supervisor", daemon=True)

    @property
    def contest_url(self) -> str:
        """Return the first lane's contest server's URL, as seen from this machine."""
        return self.contest_urls[0]

    @property
    def contest_urls(self) -> list[str]:
        """Return the URL of each lane's contest server, as seen from this machine."""
        scheme = self._config.server.contest_scheme
        return [url_of(listener, scheme) for listener in self._listeners["contest"]]

    @property
    def console_url(self) -> str:
        """Return the console's URL, as seen from this machine."""
        return url_of(self._listeners["desk"][0])

    @property
    def scoreboard_url(self) -> str | None:
        """Return the scoreboard's URL, as seen from this machine; None without a scoreboard."""
        listeners = self._listeners.get("scoreboard", [])
        return url_of(listeners[0]) if listeners else None

    def __enter__(self) -> Supervisor:
        for child in self._children.values():
            child.start(next(self._forked, None))
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
        """Stop every child; kill those that still run after ten seconds. Safe to call twice."""
        self._stopping.set()
        if self._watcher.is_alive():
            self._watcher.join()
        for child in self._children.values():
            child.terminate()
        deadline = time.monotonic() + _STOP_S
        for child in self._children.values():
            child.wait(max(0.0, deadline - time.monotonic()))
        for listener in chain.from_iterable(self._listeners.values()):
            listener.close()

    def wait_for_sessions(self, tell: Callable[[str], None]) -> None:
        """Wait without a time limit until the desk would take a login.

        `tell` gets a sentence when the list of obstacles changes, and no more often than each ten
        seconds: an energy that grows is no news.
        """
        desk = DeskClient(socket_path(self._config.storage.folder))
        last_told: list[str] = []
        next_s = 0.0
        while True:
            try:
                obstacles = list(desk.ask("refusals")["refusals"])
            except Unavailable as error:
                obstacles = [str(error)]
            if not obstacles:
                return
            news = obstacles != last_told and time.monotonic() >= next_s
            if news and self._patience_is_over():
                tell(f"Not ready yet. {' '.join(obstacles)} The console is {self.console_url}.")
                last_told, next_s = obstacles, time.monotonic() + _TELL_EVERY_S
            self._stopping.wait(_LOOK_S / 4)

    def _patience_is_over(self) -> bool:
        return time.monotonic() - self._answered_s > _TELL_AFTER_S

    def _child(
        self,
        program: Program,
        lane: int,
        listener: socket.socket | None,
        options: Sequence[str],
    ) -> Child:
        """Return a program's process; only a program that each lane has is told its lane."""
        title, name = program.title, f"{program.name}{lane_suffix(lane)}"
        descriptors: list[int] = []
        if program.of_lanes:
            title = of_lane(title, self._config.lane(lane).name)
            options = [*options, "--lane", str(lane)]
        if listener is not None:
            descriptors = [listener.fileno()]
            options = [*options, "--descriptor", str(listener.fileno())]
        command = command_of(program.name, self._config, *options)
        log = self._config.storage.folder / "logs" / f"{name}.log"
        return Child(title, command, log, descriptors)

    def _watch(self) -> None:
        while not self._stopping.wait(_LOOK_S):
            for child in self._looked_after:
                try:
                    child.look_after(self._alarm)
                except Exception:
                    # The system has no room for a process or for its log. Try again next time.
                    _log.exception("the %s could not be started again", child.title)

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + _READY_S
        files = self._config.server.contest_tls
        tls = None if files is None else pinned_context(files)
        for url in (f"{self.console_url}/form-key", *(f"{u}/help" for u in self.contest_urls)):
            while not answers(url, tls):
                if time.monotonic() > deadline:
                    raise SilentServer(
                        f"{url} does not answer; see the logs in "
                        f"{self._config.storage.folder / 'logs'}."
                    )
                if self._stopping.wait(_LOOK_S / 4):
                    raise Unavailable("stopped before everything was ready.")
        self._answered_s = time.monotonic()


def _bound(config: Config, programs: Sequence[Program]) -> dict[str, list[socket.socket]]:
    """Return the sockets of each program by its name; all or none."""
    listeners: dict[str, list[socket.socket]] = {program.name: [] for program in programs}
    try:
        for program in programs:
            for address, purpose in program.listens(config):
                listeners[program.name].append(bind(address, purpose))
    except InputError:
        for listener in chain.from_iterable(listeners.values()):
            listener.close()
        raise
    return listeners


def url_of(listener: socket.socket, scheme: str = "http") -> str:
    """Return the address of a server on this machine."""
    host, port = listener.getsockname()[:2]
    return f"{scheme}://{joined({'0.0.0.0': '127.0.0.1', '::': '::1'}.get(host, host), port)}"


def answers(url: str, tls: ssl.SSLContext | None = None) -> bool:
    """Tell whether a server of this machine answers with 200."""
    try:
        with answered(url, timeout_s=5, tls=tls) as answer:
            return answer.status == 200
    except NO_ANSWER:
        return False
