# SPDX-License-Identifier: Apache-2.0
"""A real SSH server on loopback with its own configuration, host key, user's key and port.

It is a process of the user who runs the tests, and lets this user alone log in.
"""

from __future__ import annotations

import os
import selectors
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from referee.extras.ovic.judging.board.address import BoardAddress
from tests.support.ports import free_port
from tests.support.programs import SSHD_PATH

_CONFIGURATION = """\
ListenAddress 127.0.0.1
Port {port}
HostKey "{folder}/host"
AuthorizedKeysFile "{folder}/user.pub"
PidFile none
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
StrictModes no
SetEnv TMPDIR="{folder}"
"""
# A server that root starts insists on this folder, which Debian makes when the machine starts.
_PRIVILEGE_SEPARATION = Path("/run/sshd")
_BOUND_S = 180


@dataclass(frozen=True)
class Server:
    """A running server: how to reach it, the folder of its files, and its process id."""

    address: BoardAddress
    folder: Path
    pid: int


@contextmanager
def ssh_server(folder: Path) -> Iterator[Server]:
    """Run a server; the board's temporary folder is the given one, for its user alone."""
    if os.getuid() == 0:
        _PRIVILEGE_SEPARATION.mkdir(mode=0o755, exist_ok=True)
    for name in ("host", "user"):
        make_key(folder / name)
    port = free_port()
    configuration = folder / "sshd_config"
    configuration.write_text(_CONFIGURATION.format(port=port, folder=folder))
    known_hosts = folder / "known_hosts"
    know(known_hosts, port, folder / "host")
    command = [SSHD_PATH, "-D", "-e", "-f", str(configuration)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    try:
        _await_port(process)
        address = BoardAddress(
            "127.0.0.1", None, port, folder / "user", known_hosts, python=sys.executable
        )
        yield Server(address, folder, process.pid)
    finally:
        process.terminate()
        process.communicate(timeout=_BOUND_S)


def make_key(path: Path) -> None:
    """Write a new private key, and its public half beside it."""
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)]
    subprocess.run(command, check=True, timeout=180)


def know(known_hosts: Path, port: int, key: Path) -> None:
    """Let a file of host keys have this key for the server."""
    kind, content, *_ = key.with_suffix(".pub").read_text().split()
    known_hosts.write_text(f"[127.0.0.1]:{port} {kind} {content}\n")


def _await_port(process: subprocess.Popen[bytes]) -> None:
    """Read what the server says until it listens; a server that never does is killed."""
    assert process.stderr is not None
    killer = threading.Timer(_BOUND_S, process.kill)
    killer.start()
    try:
        said = b""
        while b"listening on" not in said:
            line = process.stderr.readline()
            assert line, f"the SSH server does not start: {said.decode()}"
            said += line
    finally:
        killer.cancel()


@contextmanager
def dying_line(port: int) -> Iterator[tuple[int, Callable[[], None]]]:
    """Yield a port that leads to another one, and a function after which all bytes vanish.

    The connection stays open, as it does when somebody pulls the cable.
    """
    dead, done = threading.Event(), threading.Event()
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        socket.create_connection(("127.0.0.1", port)) as far,
    ):

        def carry() -> None:
            near, _ = listening.accept()
            with near, selectors.DefaultSelector() as selector:
                selector.register(near, selectors.EVENT_READ, far)
                selector.register(far, selectors.EVENT_READ, near)
                while not done.is_set() and selector.get_map():
                    for key, _ in selector.select(0.1):
                        source, target = key.fileobj, key.data
                        content = source.recv(65_536)
                        if not content:
                            selector.unregister(source)
                        elif not dead.is_set():
                            target.sendall(content)

        thread = threading.Thread(target=carry, name="dying-line")
        thread.start()
        try:
            yield listening.getsockname()[1], dead.set
        finally:
            done.set()
            thread.join()
