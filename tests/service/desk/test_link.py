# SPDX-License-Identifier: Apache-2.0
"""The socket between contest server and control desk: answers, refusals, and silence."""

from __future__ import annotations

import socket
import stat
import tempfile
import threading

import pytest

from referee.errors import InputError, Refusal, Unavailable
from referee.service.desk.link import DeskClient, DeskServer, socket_path
from tests.support.fakes import BOUND_S


@pytest.fixture
def path(tmp_path, monkeypatch):
    """Return the socket's path for a contest in a deep folder; sockets stand in a short one."""
    with tempfile.TemporaryDirectory() as short:
        monkeypatch.setattr(tempfile, "gettempdir", lambda: short)
        yield socket_path(tmp_path / "a contest" / ("deep" * 40))


def serve(path, handler, leave=lambda: None):
    """Serve with this handler until the test ends."""
    return DeskServer(path, handler, lambda text: None, leave)


def test_question_and_answer(path):
    """Arguments and answers cross the link unchanged."""
    server = serve(path, lambda request: {"session": 7, "asked": dict(request)})
    answer = DeskClient(path).ask("begin", team="änts\n", address="10.0.0.2")
    server.close()
    expected = {"action": "begin", "team": "änts\n", "address": "10.0.0.2"}
    assert {"session": 7, "asked": expected} == answer


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (Refusal("not_armed", "It is not your turn."), Refusal, "It is not your turn."),
        (Unavailable("The meter is lost."), Unavailable, "The meter is lost."),
        (ZeroDivisionError("a mistake"), Unavailable, "its log says why"),
    ],
)
def test_errors_cross_the_link(path, error, kind, text):
    """A refusal arrives with its code; a programming error arrives without its details."""

    def handler(request):
        raise error

    server = serve(path, handler)
    with pytest.raises(kind, match=text) as caught:
        DeskClient(path).ask("begin")
    server.close()
    assert getattr(error, "code", None) == getattr(caught.value, "code", None)


def test_nobody_there(path):
    """Without a desk the caller learns that nobody answers, before the first and after the last."""
    client = DeskClient(path)
    with pytest.raises(Unavailable, match="does not answer"):
        client.ask("begin")
    server = serve(path, lambda request: {})
    assert {} == client.ask("begin")
    server.close()
    with pytest.raises(Unavailable, match="does not answer"):
        client.ask("begin")


def test_new_desk_takes_the_place_of_a_killed_one(path):
    """A new desk replaces the socket that a killed desk left behind."""
    path.parent.mkdir(mode=0o700, parents=True)
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    server = serve(path, lambda request: {"new": True})
    assert {"new": True} == DeskClient(path).ask("begin")
    server.close()


@pytest.mark.parametrize("line", [b"", b"\n", b"not json\n", b"[1, 2\n", b"\xff\n"])
def test_garbage_on_the_socket(path, line):
    """A caller that sends garbage is hung up on, and the desk serves the next one."""
    server = serve(path, lambda request: {"fine": True})
    with socket.socket(socket.AF_UNIX) as link:
        link.settimeout(BOUND_S)
        link.connect(str(path))
        link.sendall(line)
        link.shutdown(socket.SHUT_WR)
        assert b"" == link.recv(100)
    assert {"fine": True} == DeskClient(path).ask("begin")
    server.close()


def test_many_ask_at_once(path):
    """A slow answer to one caller holds up no other caller."""
    slow = threading.Event()

    def handler(request):
        if request["action"] == "slow":
            assert slow.wait(BOUND_S)
        return {"action": request["action"]}

    server = serve(path, handler)
    answers = []
    thread = threading.Thread(target=lambda: answers.append(DeskClient(path).ask("slow")))
    thread.start()
    assert {"action": "quick"} == DeskClient(path).ask("quick")
    slow.set()
    thread.join(BOUND_S)
    server.close()
    assert [{"action": "slow"}] == answers


@pytest.mark.parametrize("line", [b'{"action": "hello"}\n', b"no request\n", b""])
def test_each_requests_thread_gives_back_what_it_has_opened(path, line):
    """The last call of a request's thread comes from that thread, whatever the request was."""
    answered, left, done = [], [], threading.Event()

    def handler(request):
        answered.append(threading.get_native_id())
        return {}

    def leave():
        left.append(threading.get_native_id())
        done.set()

    server = serve(path, handler, leave)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.connect(str(path))
        link.sendall(line)
    assert done.wait(BOUND_S)
    server.close()
    assert left == (answered or left)
    assert 1 == len(left)
    assert threading.get_native_id() not in left


def test_socket_is_this_users_alone(path):
    """Nobody else may enter the socket's folder, and the socket's path is short."""
    server = serve(path, lambda request: {})
    assert 0o700 == stat.S_IMODE(path.parent.stat().st_mode)
    server.close()


def test_each_contest_has_its_socket(tmp_path):
    """Two contests on one machine have different sockets, and each finds its own again."""
    first, second = socket_path(tmp_path / "a"), socket_path(tmp_path / "b")
    assert first != second
    assert first == socket_path(tmp_path / "b" / ".." / "a")
    assert len(str(socket_path(tmp_path / ("x" * 200)).name)) < 30


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o707])
def test_a_folder_that_others_may_enter_is_refused(path, mode):
    """A folder that another user may write to is refused: he could answer for the desk."""
    path.parent.mkdir(parents=True)
    path.parent.chmod(mode)
    with pytest.raises(InputError, match="mode 700"):
        serve(path, lambda request: {})


def test_a_link_in_the_place_of_the_folder_is_refused(path, tmp_path):
    """A symbolic link is refused: it may lead to somebody else's folder."""
    (tmp_path / "other").mkdir(mode=0o700)
    path.parent.parent.mkdir(parents=True, exist_ok=True)
    path.parent.symlink_to(tmp_path / "other")
    with pytest.raises(InputError, match="mode 700"):
        serve(path, lambda request: {})
