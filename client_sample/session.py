# SPDX-License-Identifier: Apache-2.0
"""A session on connections that reopen after a loss; it uses the protocol's newer requests."""

from __future__ import annotations

import http.client
import io
import json
import threading
import time
import zipfile
from typing import Any, Dict, Iterable, Optional, Tuple
from urllib.parse import urlencode

from client_sample.client import (
    ClientError,
    Row,
    Unauthorised,
    Untrusted,
    connector,
    no_answer,
)

Answer = Tuple[int, Iterable[Row]]  # an image's number and its boxes

_LONGEST_WAIT_S = 2.0  # the longest pause between two attempts to reach the referee again
_MOST_POSTS = 5  # the most attempts to post one answer when the connection breaks each time


class LostConnection(ClientError):
    """The connection broke before the answer; the referee may or may not have the request."""


class ContestSession:
    """The data that all connections of a session share, such as address, token and patience.

    A connection tries for `patience_s` to reach the referee again, then it gives up.
    """

    def __init__(
        self,
        url: str,
        timeout_s: float = 30.0,
        patience_s: float = 60.0,
        ca_file: Optional[str] = None,
    ) -> None:
        self.connect = connector(url, timeout_s, ca_file)
        self.patience_s = patience_s
        self.program = "client_sample"  # what the client calls itself, in visible ASCII
        self.token = ""
        self.images = 0
        self.seconds = 0.0
        self.remaining_s = 0.0
        self.frame_tag: Optional[int] = (
            None  # of the camera track: the tag of this session's frames
        )
        self.reconnections = 0
        self.stopped = threading.Event()

    def login(self, user: str, password: str) -> None:
        """Start the session, or resume a running one; earlier answers still count."""
        link = SessionConnection(self)
        try:
            form = urlencode(
                {"username": user, "password": password}, errors="surrogateescape"
            ).encode()
            reply = link.once("POST", "/login", form, "application/x-www-form-urlencoded")
            facts = json.loads(reply)
            self.token, self.images = facts["token"], int(facts["images"])
            self.seconds, self.remaining_s = facts["seconds"], facts["remaining_seconds"]
            self.frame_tag = facts.get("frame_tag")
        except (ValueError, TypeError, KeyError) as error:
            raise ClientError(f"The login was answered by {reply[:60]!r}.") from error
        finally:
            link.close()


class SessionConnection:
    """One connection of a session; it opens again after a break.

    Only one thread may use a link at a time.
    """

    def __init__(self, session: ContestSession) -> None:
        self._session = session
        self._connection = session.connect()
        self._answers = -1  # number of the session's answers at the referee; -1: not asked yet

    def image(self, image_id: int) -> bytes:
        """Return the bytes of one image."""
        return self.ask("GET", f"/image/{image_id}")

    def archive(self, first_id: int) -> Dict[int, bytes]:
        """Return up to a hundred images, beginning at image 1, 101, 201 …."""
        body = self.ask("GET", f"/zipimages?image_name={first_id}")
        try:
            with zipfile.ZipFile(io.BytesIO(body)) as archive:
                return {int(name.split(".")[0]): archive.read(name) for name in archive.namelist()}
        except (ValueError, zipfile.BadZipFile) as error:
            raise ClientError(f"The archive of image {first_id} is damaged: {error}.") from error

    def post(self, answers: Iterable[Answer]) -> Dict[str, Any]:
        """Post the boxes of some images exactly once, and return the referee's receipt.

        A second copy of a right box counts as a wrong one. So if the connection breaks before the
        receipt, the client asks the referee how many answers it has. It posts again only if this
        answer is not among them; if it is, the receipt is empty. All answers of a session must go
        over one link.
        """
        if self._answers < 0:
            self._answers = self._answer_count()
        lines = [
            ",".join((str(image_id), str(int(class_id)), *(repr(float(n)) for n in numbers)))
            for image_id, rows in answers
            for class_id, *numbers in rows
        ]
        body = "\n".join([*lines, ""]).encode("ascii")
        receipt = {}
        for attempt in range(1, _MOST_POSTS + 1):
            try:
                receipt = json.loads(self.once("POST", "/result", body, "text/csv"))
                break
            except LostConnection:
                if self._answer_count() > self._answers:
                    break
                if attempt == _MOST_POSTS:
                    raise
        self._answers += 1
        return dict(receipt)

    def logout(self) -> None:
        """End the session before its deadline."""
        self.ask("POST", "/logout")

    def close(self) -> None:
        """Close the connection; the session goes on."""
        self._connection.close()

    def ask(self, method: str, path: str) -> bytes:
        """Make a request and repeat it until there is an answer or patience ends."""
        give_up = time.monotonic() + self._session.patience_s
        wait_s = 0.0
        while True:
            try:
                return self.once(method, path)
            except LostConnection:
                if time.monotonic() >= give_up or self._session.stopped.wait(wait_s):
                    raise
                wait_s = min(_LONGEST_WAIT_S, max(0.1, 2 * wait_s))

    def once(self, method: str, path: str, body: bytes = b"", kind: str = "") -> bytes:
        """Make one request, without repeating it, and return the body of the answer."""
        headers = {"Accept": "application/json, */*", "User-Agent": self._session.program}
        if self._session.token:
            headers["Authorization"] = f"Bearer {self._session.token}"
        if kind:
            headers["Content-Type"] = kind
        try:
            self._connection.request(method, path, body, headers)
            with self._connection.getresponse() as response:
                status, answer = response.status, response.read()
        except (OSError, http.client.HTTPException, UnicodeError) as error:
            self._connection.close()
            self._session.reconnections += 1
            fault = no_answer(self._connection, error)
            # A server that is not trusted is not asked again.
            raise fault if isinstance(fault, Untrusted) else LostConnection(str(fault)) from error
        if status == 200:
            return answer
        refusal = Unauthorised if status == 401 else ClientError
        raise refusal(f"The referee refused {path} with status {status}: {_reason(answer)}")

    def _answer_count(self) -> int:
        status = json.loads(self.ask("GET", "/status"))
        return int(status["answers"]) + int(status["late_answers"])


def _reason(answer: bytes) -> str:
    try:
        return str(json.loads(answer)["detail"])
    except (ValueError, TypeError, KeyError):
        return answer[:200].decode("utf-8", "replace").strip()
