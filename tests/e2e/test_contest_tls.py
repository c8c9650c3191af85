# SPDX-License-Identifier: Apache-2.0
"""A contest under TLS, with the real programs: sessions, and clients that do harm or go wrong."""

from __future__ import annotations

import socket
import ssl
import subprocess
import sys
import warnings
import zipfile
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.e2e.conftest import Material, Rehearse
from tests.support.certificates import trusting
from tests.support.running import (
    PATIENCE_S,
    Program,
    client,
    eventually,
    get,
    kill_all,
    running_as,
)
from tests.support.running import referee as command_line

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
# More than both workers take of one address, so a newcomer must be given room.
MANY = 300
# A handshake has 10 s, and a connection that has shaken hands may be idle for 75 s.
ENDS_S = 60.0
# The first bytes of a hello that never ends.
HALF_A_HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"


@pytest.fixture
def referee(standing: Rehearse) -> Program:
    """Return a rehearsal that speaks TLS to its contestants."""
    return standing("--tls", "--seconds", "600", "--update-interval", "0.25")


@pytest.fixture
def ca(referee: Program) -> Path:
    """Return the file that the teams get."""
    return Path(referee.data) / "contest_ca.pem"


def place(referee: Program) -> tuple[str, int]:
    """Return host and port of the contest server."""
    host, _, port = referee.contest.removeprefix("https://").partition(":")
    return host, int(port)


def asked(referee: Program, tls: ssl.SSLContext) -> bytes:
    """Ask for the help on a new connection, and return all that comes until TLS's farewell."""
    with ExitStack() as stack:
        link = stack.enter_context(socket.create_connection(place(referee), PATIENCE_S))
        secure = stack.enter_context(
            tls.wrap_socket(link, server_hostname="127.0.0.1", suppress_ragged_eofs=False)
        )
        head = "GET /help HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        secure.sendall(head.encode())
        received = b""
        while part := secure.recv(65536):
            received += part
        return received


def test_a_session_while_handshakes_stall(referee: Program, ca: Path, material: Material) -> None:
    """A sample client plays a session while hundreds begin with TLS and stop; those are closed."""
    with ExitStack() as stack:
        stalled = []
        for number in range(MANY):
            link = socket.create_connection(place(referee), PATIENCE_S)
            stalled.append(stack.enter_context(link))
            link.sendall(HALF_A_HELLO[: number % len(HALF_A_HELLO)])
        told = client(referee.contest, "--ca-file", str(ca), "--answers", str(material.answers))
        assert "12 of 12 images" in told
        # At most an alert of TLS comes before the end.
        assert {rest(link)[:1] for link in stalled} <= {b"", b"\x15"}
    row = referee.scored()
    assert row["mean_ap"] > 0.5
    assert referee.lane()["current"]["images_fetched"] == 12


def rest(link: socket.socket) -> bytes:
    """Return what comes until the end of a connection, which must end before an idle one does."""
    link.settimeout(ENDS_S)
    received = b""
    try:
        while part := link.recv(100):
            received += part
    except ConnectionResetError:
        pass
    return received


def test_plain_http_is_told_to_use_tls(referee: Program) -> None:
    """A client with the old address reads what to do, and sees no page."""
    status, text = get(referee.contest.replace("https://", "http://") + "/help")
    assert (400, b"This port speaks TLS. Use https://") == (status, text[:34])


def test_help_has_addresses_that_work(referee: Program, ca: Path) -> None:
    """The lines to copy begin with https, and the end of an answer is told by TLS."""
    text = asked(referee, trusting(ca)).decode()
    assert "(--cacert FILE), and never -k." in text
    assert "curl -d 'username=USER&password=PASSWORD' https://" in text
    assert " http://" not in text
    assert referee.contest in [url for lane in referee.board()["lanes"] for url in lane["urls"]]


def test_old_versions_of_tls_are_refused(referee: Program, ca: Path) -> None:
    """TLS 1.1 ends in an alert; TLS 1.2 is served."""
    old = trusting(ca)
    old.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises(ssl.SSLError, match="PROTOCOL_VERSION"):
        asked(referee, old)
    newer = trusting(ca)
    newer.maximum_version = ssl.TLSVersion.TLSv1_2
    assert asked(referee, newer).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("program", ["client_sample.client", "client_sample.pipelined"])
def test_a_client_that_does_not_trust_says_so(
    referee: Program, material: Material, program: str
) -> None:
    """Without the CA's file, nothing is sent to a server that anybody may be."""
    newest = referee.newest()
    words = ["--user", "me", "--password", "practice", "--answers", str(material.answers)]
    command = [sys.executable, "-m", program, "--url", referee.contest, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, cwd=ROOT)
    assert done.returncode == 1
    assert "is not trusted: " in done.stderr
    assert "--ca-file" in done.stderr
    assert newest == referee.newest()


def test_a_killed_server_comes_back_under_tls(referee: Program, ca: Path) -> None:
    """The supervisor starts the program again on the same socket, with the same certificate."""
    tls = trusting(ca)
    kill_all(running_as("contest", referee.child.pid))

    def look() -> bool:
        try:
            return asked(referee, tls).startswith(b"HTTP/1.1 200 ")
        except OSError:
            return False

    assert eventually(look, "the contest server to come back")


def test_no_private_key_leaves_the_folder(referee: Program, tmp_path: Path) -> None:
    """The keys have mode 600, and the evidence holds neither of them."""
    data = Path(referee.data)
    keys = [data / "contest_tls.key", data / "contest_ca.key"]
    assert [0o600, 0o600] == [key.stat().st_mode & 0o777 for key in keys]
    bundle = tmp_path / "bundle.zip"
    command_line("export", "1", "--data", str(data), "--out", str(bundle))
    with zipfile.ZipFile(bundle) as archive:
        held = b"".join(archive.read(name) for name in archive.namelist())
    assert [] == [key.name for key in keys if key.read_bytes().splitlines()[1] in held]
    assert b"PRIVATE KEY" not in held
