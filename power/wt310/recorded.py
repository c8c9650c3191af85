# SPDX-License-Identifier: Apache-2.0
"""What a recorded conversation with the meter says: its identity, settings, starts and readings."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from power.errors import MeterError, MeterUnreachable
from power.meter import Identity, MeterSettings
from power.scpi import decode
from power.values import identity_from_json, reading_from_json, settings_from_json
from power.wt310 import output
from power.wt310 import settings as setup
from power.wt310.link import ScpiLink
from power.wt310.models import MeterModel, model_of, parse_identity

_WHO = "*IDN?"
_START = ":INTEGrate:STARt"
# What JSON of another shape, or none, leads to.
_UNFIT = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
_VALUES = ("U", "I", "P", "WH", "TIME")


@dataclass(frozen=True)
class RecordedAnswer:
    """One reading as the meter sent it: V, A, W, Wh and seconds; a value without data is None."""

    monotonic_s: float
    values: tuple[float | None, ...]
    state: str


@dataclass(frozen=True)
class Started:
    """A START that was sent, and the meter's settings as it had last told them."""

    utc: datetime
    monotonic_s: float
    identity: Identity | None
    settings: MeterSettings | None


@dataclass
class RecordedConversation:
    """The readings and the starts of a wire log, and each meter that told who it is, in order.

    `resources` has the address at each opening of the link. `gaps` counts the lines that say what
    is lost.
    """

    readings: list[RecordedAnswer] = field(default_factory=list)
    starts: list[Started] = field(default_factory=list)
    identities: list[Identity] = field(default_factory=list)
    resources: list[str] = field(default_factory=list)
    gaps: int = 0


def read_conversation(lines: Iterable[bytes], element: str) -> RecordedConversation:
    """Return what the lines of a wire log say about the measurement of an element.

    Raises ValueError, naming the line, for a line that no wire log has.
    """
    conversation = RecordedConversation()
    replies: dict[str, bytes] = {}
    asked = ""
    for number, line in enumerate(lines, 1):
        try:
            asked = _take(line, asked, conversation, replies, element)
        except _UNFIT as error:
            raise ValueError(f"line {number} is no line of a meter's log: {error!r}") from None
    return conversation


def _take(
    line: bytes,
    asked: str,
    conversation: RecordedConversation,
    replies: dict[str, bytes],
    element: str,
) -> str:
    """Add what a line says, and return the message that was sent last."""
    event, content, fields = _event(line)
    if event == "sent":
        asked = content.decode("utf-8", "replace")
        if asked == _START:
            conversation.starts.append(_started(fields, replies, element))
    elif event == "received":
        replies[asked] = content
        if asked == _WHO:
            _meet(conversation, content)
        if asked == output.READ_QUERY:
            _keep(conversation, float(fields["monotonic_s"]), replies, element)
    elif event == "open":
        conversation.resources.append(content.decode("utf-8", "replace"))
    elif event == "gap":
        conversation.gaps += 1
    elif event in ("identity", "settings", "start", "reading"):
        _take_sampled(event, content, fields, conversation, replies)
    return asked


def _take_sampled(
    event: str,
    content: bytes,
    fields: dict[str, Any],
    conversation: RecordedConversation,
    replies: dict[str, bytes],
) -> None:
    """Add what a software integrator has noted, as JSON values (see `SampledMeter`)."""
    if event == "start":
        identity, settings = (json.loads(replies[name]) for name in ("identity", "settings"))
        conversation.starts.append(
            Started(
                datetime.fromisoformat(fields["utc"]),
                float(fields["monotonic_s"]),
                identity_from_json(identity),
                settings_from_json(settings),
            )
        )
    elif event == "reading":
        row = reading_from_json(json.loads(content))
        values = (row.voltage_v, row.current_a, row.power_w, row.energy_wh, row.integration_s)
        conversation.readings.append(RecordedAnswer(row.monotonic_s, values, row.state.value))
    else:
        replies[event] = content
        if event == "identity":
            conversation.identities.append(identity_from_json(json.loads(content)))


class _Recorded:
    """The last reply to each question, in place of a link."""

    def __init__(self, replies: dict[str, bytes]) -> None:
        self._replies = replies

    def ask(self, message: str) -> str:
        """Return the recorded reply."""
        if message not in self._replies:
            raise MeterUnreachable(f"{message} was not asked")
        return decode(self._replies[message])

    @property
    def identity(self) -> Identity:
        """Return who answered."""
        return parse_identity(self.ask(_WHO))

    @property
    def model(self) -> MeterModel:
        """Return the model that answered."""
        return model_of(self.identity)


def _event(line: bytes) -> tuple[str, bytes, dict[str, Any]]:
    fields = json.loads(line)
    content = bytes.fromhex(fields["hex"]) if "hex" in fields else fields["text"].encode()
    return str(fields["event"]), content, fields


def _started(fields: dict[str, Any], replies: dict[str, bytes], element: str) -> Started:
    utc, at_s = datetime.fromisoformat(fields["utc"]), float(fields["monotonic_s"])
    recorded = _Recorded(replies)
    try:
        settings = setup.read_back(cast(ScpiLink, recorded), element)
        return Started(utc, at_s, recorded.identity, settings)
    except MeterError:
        return Started(utc, at_s, None, None)


def _meet(conversation: RecordedConversation, content: bytes) -> None:
    """Add the meter that told who it is; a reply that no meter gives is none."""
    with suppress(MeterError):
        conversation.identities.append(parse_identity(decode(content)))


def _keep(
    conversation: RecordedConversation, at_s: float, replies: dict[str, bytes], element: str
) -> None:
    """Add a reading; a reply that the driver refused is none."""
    try:
        names = output.read_items(cast(ScpiLink, _Recorded(replies)), element)
        sample = output.take_apart(replies[output.READ_QUERY], names)
    except MeterError:
        return
    numbers = (sample.values.get(name) for name in _VALUES)
    values = tuple(value if isinstance(value, float) else None for value in numbers)
    conversation.readings.append(RecordedAnswer(at_s, values, sample.state.value))
