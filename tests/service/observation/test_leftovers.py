# SPDX-License-Identifier: Apache-2.0
"""A referee that is started again waits for the programs of the one that was killed."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from referee.programs.supervisor import Supervisor
from referee.service.observation.processes import wait_for_leftovers
from tests.programs.test_supervisor import with_addresses
from tests.support.ports import free_address

# A program that holds a port until its standard input is closed.
HOLDS_A_PORT = """
import socket, sys
host, port = sys.argv[1].split(":")
with socket.create_server((host, int(port))):
    print("listens", flush=True)
    sys.stdin.read()
"""


@contextmanager
def leftover(config: Path, address: str) -> Iterator[subprocess.Popen[str]]:
    """Run what looks like a contest server of a configuration until the block ends."""
    words = ["referee", "process", "contest", "--config", str(config)]
    command = [sys.executable, "-c", HOLDS_A_PORT, address, *words]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as child:  # type: ignore[call-overload]
        assert child.stdout.readline() == "listens\n"
        yield child


def test_a_start_waits_until_the_killed_referees_programs_have_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their port is then free, so the start succeeds."""
    address = free_address()
    config = with_addresses(tmp_path, address, None)
    wait_procs = psutil.wait_procs
    with leftover(config.path, address) as child:
        assert not wait_for_leftovers(config.path, 0.0)

        def waited(left: list[psutil.Process], timeout: float) -> object:
            child.communicate()  # It ends while the supervisor waits.
            return wait_procs(left, timeout)

        monkeypatch.setattr(psutil, "wait_procs", waited)
        Supervisor(config, ["none"]).stop()
    assert wait_for_leftovers(config.path, 0.0)


def test_the_programs_of_another_contest_are_not_waited_for(tmp_path: Path) -> None:
    """Two contests on a laptop have nothing to do with each other."""
    with leftover(tmp_path / "other.toml", "127.0.0.1:0"):
        assert wait_for_leftovers(tmp_path / "contest.toml", 0.0)


def test_nothing_is_waited_for_where_nothing_is_left(tmp_path: Path) -> None:
    """A port that another program holds is told at once."""
    with socket.create_server(("127.0.0.1", 0)):
        assert wait_for_leftovers(tmp_path / "contest.toml", 0.0)
