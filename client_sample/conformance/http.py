# SPDX-License-Identifier: Apache-2.0
"""Requests to a server under test, well formed or not, and its answers."""

from __future__ import annotations

import http.client
import socket
import ssl
from dataclasses import dataclass, field
from typing import Any, Mapping
from urllib.parse import urlencode, urlsplit

from client_sample.client import connector

TIMEOUT_S = 30.0
FORM = "application/x-www-form-urlencoded"


class BrokenRule(Exception):
    """A rule does not hold; the text says what the server did."""


@dataclass(frozen=True)
class HttpAnswer:
    """An answer of the server; the names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Server:
    """A server under test, with the data that the rules have found out so far."""

    url: str
    user: str
    password: str
    ca_file: str | None = None
    token: str = ""
    images: int = 0
    notes: dict[str, object] = field(default_factory=dict)

    @property
    def place(self) -> tuple[str, int]:
        """Return host and port."""
        parts = urlsplit(self.url if "//" in self.url else f"//{self.url}")
        return parts.hostname or "127.0.0.1", parts.port or (443 if self.is_secure else 80)

    @property
    def is_secure(self) -> bool:
        """Tell whether the server speaks TLS."""
        return self.url.startswith("https://")

    def ask(
        self,
        method: str,
        path: str,
        fields: Mapping[str, object] | None = None,
        *,
        body: bytes | str | None = None,
        kind: str = FORM,
        bearer: bool = False,
        **headers: str,
    ) -> HttpAnswer:
        """Send one request on a connection of its own; lists in `fields` repeat the field."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if bearer:
            sent["Authorization"] = f"Bearer {self.token}"
        if fields is not None:
            body = urlencode(fields, doseq=True)
        if body is not None:
            sent["Content-Type"] = kind
        connection = connector(self.url, TIMEOUT_S, self.ca_file)()
        try:
            connection.request(method, path, body, sent)
            response = connection.getresponse()
            content = response.read()
            names = {name.lower(): value for name, value in response.getheaders()}
            return HttpAnswer(response.status, names, content)
        except (OSError, http.client.HTTPException) as error:
            raise BrokenRule(f"{method} {path}: {type(error).__name__}: {error}") from None
        finally:
            connection.close()

    def post(self, path: str, **fields: Any) -> HttpAnswer:
        """Post a form with the session's token, as the clients of 2015-2019 do."""
        return self.ask("POST", path, {"token": self.token, **fields})

    def raw(self, message: bytes, pause_for: bytes = b"", then: bytes = b"") -> bytes:
        """Send `message`; if the answer begins with `pause_for`, send `then`; return all bytes."""
        try:
            with self._connected() as link:
                link.sendall(message)
                received = b""
                if pause_for:
                    received = link.recv(65536)
                    if not received.startswith(pause_for):
                        return received
                    link.sendall(then)
                while True:
                    part = link.recv(65536)
                    if not part:
                        return received
                    received += part
        except OSError as error:
            raise BrokenRule(f"{type(error).__name__}: {error}") from None

    def _connected(self) -> socket.socket:
        link = socket.create_connection(self.place, TIMEOUT_S)
        if not self.is_secure:
            return link
        tls = ssl.create_default_context(cafile=self.ca_file)
        return tls.wrap_socket(link, server_hostname=self.place[0])


def demand(answer: HttpAnswer, status: int, body: bytes | None = None) -> None:
    """Raise `BrokenRule` unless an answer has this status and, if given, this body."""
    if answer.status != status:
        raise BrokenRule(f"status {answer.status} instead of {status}, {answer.body[:80]!r}")
    if body is not None and answer.body != body:
        raise BrokenRule(f"body {answer.body[:80]!r} instead of {body!r}")
