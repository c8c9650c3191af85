# SPDX-License-Identifier: Apache-2.0
"""The local socket to the control desk: one JSON line for the request, one for the answer."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import socket
import socketserver
import stat
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from referee.errors import InputError, RefereeError, Refusal, Unavailable
from referee.service.desk.watched_thread import WatchedThread

Handler = Callable[[Mapping[str, Any]], Mapping[str, Any]]

_LINE_LIMIT = 64 * 1024
# The desk needs less: it spends at most 25 s on a login before START, and at most 25 s on a
# command of the meter.
_ANSWER_S = 60.0
_READ_S = 5.0
_POLL_S = 0.2

_log = logging.getLogger(__name__)


def socket_path(storage: Path) -> Path:
    """Return the path of the socket of a contest's desk.

    The path of a Unix socket is limited to about 100 bytes, so the socket cannot be in the
    contest's own folder. It is in a private folder of this user, and its name is a digest of the
    contest's folder.
    """
    digest = hashlib.sha256(str(storage.resolve()).encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"lpirc-referee-{os.getuid()}" / f"{digest}.sock"


def prepare_socket_folder(path: Path) -> None:
    """Make the socket's folder; raise `InputError` if other users may enter it."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    status = path.parent.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise InputError(
            f"{path.parent} must be a folder of yours with mode 700; remove it, or set TMPDIR to "
            "another folder."
        )


class DeskClient:
    """The client's side of the socket; safe to use from many threads."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def ask(self, action: str, **arguments: object) -> Mapping[str, Any]:
        """Send a request to the desk and return its answer.

        Raises the desk's own `Refusal`. Raises `Unavailable` if the desk does not answer within a
        minute or cannot carry out the action.
        """
        line = json.dumps({"action": action, **arguments}).encode() + b"\n"
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
                link.settimeout(_ANSWER_S)
                link.connect(str(self._path))
                link.sendall(line)
                with link.makefile("rb") as replies:
                    reply = json.loads(replies.readline(_LINE_LIMIT))
        except (OSError, ValueError) as error:
            raise Unavailable(f"The control desk does not answer ({error}).") from error
        if "refusal" in reply:
            raise Refusal(reply["refusal"], reply["text"])
        if "unavailable" in reply:
            raise Unavailable(reply["unavailable"])
        return dict(reply["answer"])


class _Request(socketserver.StreamRequestHandler):
    timeout = _READ_S

    def handle(self) -> None:
        try:
            request = json.loads(self.rfile.readline(_LINE_LIMIT))
        except (OSError, ValueError):
            return
        handler: Handler = self.server.handler  # type: ignore[attr-defined]
        self.wfile.write(json.dumps(_answer(handler, request)).encode() + b"\n")


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, path: Path, handler: Handler, leave: Callable[[], object]) -> None:
        self.handler = handler
        self._leave = leave
        super().__init__(str(path), _Request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._leave()


class DeskServer:
    """The desk's side of the socket, served by the thread `desk-link`.

    Each request has a short thread of its own, whose last call is `leave`: it gives back what the
    handler has opened for this thread. `tell` gets a sentence when the thread `desk-link` has died,
    before it is restarted.
    """

    def __init__(
        self,
        path: Path,
        handler: Handler,
        tell: Callable[[str], object],
        leave: Callable[[], object],
    ) -> None:
        prepare_socket_folder(path)
        path.unlink(missing_ok=True)
        self._server = _Server(path, handler, leave)
        self._stopping = threading.Event()
        self._thread = WatchedThread(
            "desk-link", lambda: self._server.serve_forever(_POLL_S), self._stopping, tell
        )
        self._thread.start()

    def close(self) -> None:
        """Stop listening and end the thread."""
        self._stopping.set()
        self._server.shutdown()
        self._thread.join(_READ_S)
        # Do not remove the socket's file: it may already belong to the next desk.
        self._server.server_close()


def _answer(handler: Handler, request: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        return {"answer": handler(request)}
    except Refusal as refusal:
        return {"refusal": refusal.code, "text": str(refusal)}
    except RefereeError as error:
        return {"unavailable": str(error)}
    except Exception:
        _log.exception("the desk failed on %s", request.get("action"))
        return {"unavailable": "The control desk failed; its log says why."}
