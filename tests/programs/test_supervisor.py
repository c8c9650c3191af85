# SPDX-License-Identifier: Apache-2.0
"""The supervisor binds every address of the configuration before it starts anything, or none."""

from __future__ import annotations

import socket
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from referee.errors import InputError
from referee.programs.supervisor import Supervisor, bind, url_of
from referee.service.setup.config import Config
from tests.support.contests import make_contest
from tests.support.ports import free_address


def with_addresses(folder: Path, console: str, scoreboard: str | None) -> Config:
    """Return a configuration with these addresses."""
    contest = make_contest(folder)
    contest.database.close()
    server = replace(
        contest.config.server, contest="127.0.0.1:0", console=console, scoreboard=scoreboard
    )
    return replace(contest.config, server=server)


def test_a_scoreboard_is_optional(tmp_path: Path) -> None:
    """Without an address there is no scoreboard; with one it has a URL of its own."""
    config = with_addresses(tmp_path, "127.0.0.1:0", None)
    without = Supervisor(config, ["none"])
    assert without.scoreboard_url is None
    without.stop()
    server = replace(config.server, scoreboard="127.0.0.1:0")
    found = Supervisor(replace(config, server=server), ["none"])
    urls = {found.scoreboard_url, found.console_url, found.contest_url}
    assert 3 == len(urls)
    found.stop()


def test_a_scoreboard_that_cannot_listen_is_told_and_nothing_stays_bound(tmp_path: Path) -> None:
    """The sentence names the setting, and the console's port is free again."""
    console = free_address()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(InputError, match=r"scoreboard server .*\[server\] scoreboard"):
            Supervisor(with_addresses(tmp_path, console, address), ["none"])
    host, port = console.split(":")
    socket.create_server((host, int(port))).close()


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("[::]:0", "http://[::1]:"),
        ("[::1]:0", "http://[::1]:"),
        ("127.0.0.1:0", "http://127.0.0.1:"),
        ("0.0.0.0:0", "http://127.0.0.1:"),
    ],
)
def test_urls_have_brackets(address: str, url: str) -> None:
    """A server that listens everywhere is reached by loopback."""
    with closing(bind(address, "console")) as listener:
        assert url_of(listener) == f"{url}{listener.getsockname()[1]}"


def test_all_addresses_are_those_of_both_kinds() -> None:
    """[::] takes clients of IPv4 whatever the system's default is."""
    with closing(bind("[::]:0", "console")) as listener:
        port = listener.getsockname()[1]
        socket.create_connection(("127.0.0.1", port), timeout=180).close()
        socket.create_connection(("::1", port), timeout=180).close()
