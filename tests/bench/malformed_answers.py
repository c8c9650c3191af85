# SPDX-License-Identifier: Apache-2.0
"""The exchange of raw bytes with a server, and what each answer must be."""

from __future__ import annotations

import json
import re
import socket
import struct
import time
from dataclasses import dataclass

from referee.web.contest.legacy import ANSWERS, INVALID_USER

PATIENCE_S = 60.0
"""The longest that an answer may take; the servers' own limits for a client are longer."""

_HEAD = re.compile(
    rb"HTTP/1\.[01] ([1-5][0-9]{2}) [ -~]*\r\n(?:[!-9;-~]+: ?[\t -~\x80-\xff]*\r\n)*\r\n"
)
_FIELD = re.compile(rb"\r\n([!-9;-~]+): ?([^\r]*)")
_OLD_TEXTS = {INVALID_USER} | {text for _, text in ANSWERS.values() if text is not None}
# Statuses that the protocol of 2015-2019 asks for: a number that is empty, and no display.
_OLD_500 = {b"Invalid Image index\n", b"Display failed to start\n"}
_OLD_500_DETAILS = {
    b"'image_name' is empty: send the image's number.",
    b"This contest has no display; fetch images with /image.",
}
_FEED = b"/feed"
_RESET = struct.pack("ii", 1, 0)


@dataclass(frozen=True)
class Answer:
    """What came back: `ended` tells whether it was whole within the time."""

    received: bytes
    ended: bool
    seconds: float

    @property
    def status(self) -> int:
        """Return the final answer's status, or 0 if there is none."""
        found = _HEAD.match(self._final())
        return int(found[1]) if found else 0

    def body(self) -> bytes:
        """Return what follows the head."""
        return self._final().partition(b"\r\n\r\n")[2]

    def fields(self) -> dict[bytes, bytes]:
        """Return the head's fields, in lower case."""
        head = self._final().partition(b"\r\n\r\n")[0]
        return {name.lower(): value for name, value in _FIELD.findall(head)}

    def _final(self) -> bytes:
        return self.received.removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")


def exchange(address: tuple[str, int], raw: bytes) -> Answer:
    """Send bytes, say that no more come, and read until the server closes."""
    begun, received, ended = time.monotonic(), b"", False
    # The feed says nothing, not even its head, until there is something to tell.
    patience_s = 1.0 if _FEED in raw else PATIENCE_S
    with socket.create_connection(address, patience_s) as link:
        # The end of thousands of connections leaves no ports behind.
        link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        try:
            link.sendall(raw)
            link.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # The server has refused already; its answer may still be there.
        try:
            while not ended:
                part = link.recv(65536)
                received += part
                ended = not part or _is_endless(received)
        except ConnectionResetError:
            ended = True
        except TimeoutError:
            ended = _FEED in raw
    return Answer(received, ended, time.monotonic() - begun)


def _is_endless(received: bytes) -> bool:
    return b"\r\nContent-Type: text/event-stream" in received or (
        b"\r\nContent-Type: application/x-ndjson" in received and b"\r\n\r\n" in received
    )


def faults_of(raw: bytes, answer: Answer) -> list[str]:
    """Return what is wrong with an answer."""
    if not answer.ended:
        return [f"no end within {PATIENCE_S:.0f} s"]
    if not answer.received and _FEED not in raw:
        whole = b"\r\n\r\n" in raw.lstrip(b"\r\n")
        return ["no answer to a whole head"] if whole else []
    if not answer.received:
        return []
    if not answer.status:
        return ["no HTTP"]
    found = _length_faults(raw, answer)
    if answer.status >= 500 and not _may_fail(raw, answer):
        found.append(f"status {answer.status}")
    if answer.status >= 400 and not raw.startswith(b"HEAD "):
        found += _wording_faults(raw, answer)
    return found


def _length_faults(raw: bytes, answer: Answer) -> list[str]:
    told = answer.fields().get(b"content-length")
    if told is None or raw.startswith(b"HEAD ") or answer.status == 304:
        return []
    # A second answer may follow: bytes behind the body are another request.
    if len(answer.body()) < int(told):
        return [f"{len(answer.body())} of {int(told)} bytes"]
    return []


def _may_fail(raw: bytes, answer: Answer) -> bool:
    if answer.status == 501:  # RFC 9112, 6.1: the answer to an unknown transfer coding.
        return True
    if answer.status in (503, 507):
        return b"retry-after" in answer.fields()
    if raw.startswith(b"HEAD "):  # The answer has no text, but a field with its reason.
        return answer.fields().get(b"x-referee-detail") in _OLD_500_DETAILS
    told = _content(answer)
    return told in _OLD_500 or b'"display_off"' in told or b'"image_index_empty"' in told


def _content(answer: Answer) -> bytes:
    told = answer.fields().get(b"content-length")
    return answer.body() if told is None else answer.body()[: int(told)]


def _wording_faults(raw: bytes, answer: Answer) -> list[str]:
    kind = answer.fields().get(b"content-type", b"").split(b";")[0]
    content = _content(answer)
    if b"Traceback" in content:
        return ["a traceback"]
    text = content.decode("utf-8", "replace")
    if text in _OLD_TEXTS:
        return []
    if kind in (b"application/json", b"application/problem+json"):
        told = json.loads(text)
        text = str(told.get("text") or told.get("detail") or "")
    elif text.startswith("<"):
        return ["a page in HTML"]
    text = text.removesuffix("\n")
    return [] if text.endswith(".") and "\n" not in text else [f"no sentence: {text[:100]!r}"]
