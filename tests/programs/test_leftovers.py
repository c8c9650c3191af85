# SPDX-License-Identifier: Apache-2.0
"""A referee that is started again waits for the programs of the one that was killed."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from referee.programs.supervisor import Supervisor
from referee.service.setup import folder_lock
from referee.service.setup.folder_lock import wait_for_programs
from tests.programs.test_supervisor import with_addresses
from tests.support.ports import free_address

# A program of the contest that holds a port until its standard input is closed. Its worker, which
# it has forked, outlives it.
HOLDS_A_PORT = """
import os, socket, sys
from pathlib import Path
from referee.service.setup.folder_lock import running_in
host, port = sys.argv[2].split(":")
with running_in(Path(sys.argv[1])), socket.create_server((host, int(port))):
    if os.fork():
        os._exit(0)
    print("listens", flush=True)
    sys.stdin.read()
"""


@contextmanager
def leftover(folder: Path, address: str) -> Iterator[subprocess.Popen[str]]:
    """Run what a killed contest server leaves until the block ends."""
    command = [sys.executable, "-c", HOLDS_A_PORT, str(folder), address]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as child:  # type: ignore[call-overload]
        assert child.stdout.readline() == "listens\n"
        yield child


def test_a_start_waits_until_the_killed_referees_programs_have_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their port is then free, so the start succeeds, however the worker of a program was left."""
    address = free_address()
    config = with_addresses(tmp_path, address, None)
    folder, taken = config.storage.folder, folder_lock._taken
    with leftover(folder, address) as child:
        assert not wait_for_programs(folder, 0.0)
        tries = iter(range(1000))

        def tried(descriptor: int) -> bool:
            if next(tries) == 1:
                child.communicate()  # It ends while the supervisor waits.
            return taken(descriptor)

        monkeypatch.setattr(folder_lock, "_taken", tried)
        Supervisor(config, ["none"]).stop()
    assert wait_for_programs(folder, 0.0)


def test_the_programs_of_another_contest_are_not_waited_for(tmp_path: Path) -> None:
    """Two contests on a laptop have nothing to do with each other."""
    (tmp_path / "other").mkdir()
    with leftover(tmp_path / "other", "127.0.0.1:0"):
        assert wait_for_programs(tmp_path / "contest", 0.0)


def test_nothing_is_waited_for_where_nothing_is_left(tmp_path: Path) -> None:
    """A port that another program holds is told at once."""
    with socket.create_server(("127.0.0.1", 0)):
        assert wait_for_programs(tmp_path, 0.0)
