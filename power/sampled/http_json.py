# SPDX-License-Identifier: Apache-2.0
"""Devices that answer HTTP with JSON, as plugs do: a question, and the numbers in its answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from power.errors import (
    MeterBusy,
    MeterMismatch,
    MeterRefused,
    MeterReplyError,
    MeterUnreachable,
)
from power.http_request import NO_ANSWER, answered
from power.resource import Resource
from power.sampled.source import Tools, finite

_MOST_BYTES = 64_000
_SHOWN_BYTES = 60


class HttpDevice:
    """A device at HOST[:PORT]; each question has a connection of its own, so nothing stays open.

    `name` is how messages call it, such as "Shelly". A question ends within `timeout_s`, however
    slowly the device answers. Each question and each answer is a line of the wire log. Raises
    ValueError for an address that is none.
    """

    def __init__(self, resource: Resource, tools: Tools, name: str, port: int = 80) -> None:
        self.host, port = resource.host_port(port)
        host = f"[{self.host}]" if ":" in self.host else self.host
        self._url = f"http://{host}:{port}"
        self.timeout_s = tools.timeout_s
        self._tools = tools
        self._name = name

    def get(self, path: str) -> dict[str, object]:
        """Return the JSON object at a path; raise `MeterError` if there is none."""
        self._tools.note("sent", f"GET {path}")
        try:
            with answered(self._url + path, timeout_s=self.timeout_s) as answer:
                status, body = answer.status, answer.read(_MOST_BYTES)
        except NO_ANSWER as error:
            self._tools.note("failed", str(error))
            raise MeterUnreachable(
                f"the {self._name} at {self.host} does not answer ({error}); is it in this network?"
            ) from error
        self._tools.note(
            "received" if status == 200 else f"status {status}", body.decode("utf-8", "replace")
        )
        if status == 429:
            raise MeterBusy(
                f"the {self._name} at {self.host} is asked too often (429). Look which other "
                "programs ask it, and ask it less often: ?interval=SECONDS"
            )
        if status in (401, 403):
            raise self.wants_password()
        if status != 200:
            raise MeterMismatch(f"{self.host} answers {path} with {status}: no {self._name}?")
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            raise MeterReplyError(f"{self.host} sent no JSON: {body[:_SHOWN_BYTES]!r}") from None
        if not isinstance(value, dict):
            raise MeterReplyError(f"{self.host} sent no JSON object: {body[:_SHOWN_BYTES]!r}")
        return value

    def wants_password(self) -> MeterRefused:
        """Return the error of a device that answers nobody without a password."""
        return MeterRefused(
            f"the {self._name} at {self.host} wants a password; switch its authentication off "
            "for the measurement"
        )

    def timed(self, path: str) -> tuple[dict[str, object], float]:
        """Return the JSON object at a path, and the moment in the middle of question and answer."""
        asked_s = self._tools.clock()
        value = self.get(path)
        return value, (asked_s + self._tools.clock()) / 2


def number(values: Any, name: str) -> float:
    """Return a value of an object that a device sent; raise `MeterReplyError` if it is no number.

    The value of a field that is missing, and of what is no object, is None, which is no number.
    """
    return finite(values.get(name) if isinstance(values, Mapping) else None, name)


def optional_number(values: Any, name: str) -> float | None:
    """Return a value that a device may leave out, or have as null."""
    known = isinstance(values, Mapping) and values.get(name) is not None
    return number(values, name) if known else None


def text(values: Mapping[str, object], name: str) -> str:
    """Return a value as text for an identity, "unknown" where the device does not tell."""
    return str(values.get(name, "unknown"))
