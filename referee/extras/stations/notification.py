# SPDX-License-Identifier: Apache-2.0
"""The lines of a station's feed, checked and typed: nothing in them is trusted.

`docs/feed.md` has the form. A type that this version does not know is left out, and so is a field:
a newer station may tell more.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, structs

from referee.core.conditions import Conditions
from referee.core.written_text import unfit_character
from referee.service.event.figures import Count, Figures

LINES_MOST = 20_000
"""The most objects of a station: an event has some hundreds."""

_TOKEN = re.compile(r"[!-~]{1,64}")
_DURATION = re.compile(r"(\d{1,4}):(\d\d):(\d\d)(?:\.(\d{1,3}))?")

Text = Annotated[str, Meta(max_length=200)]


class StationFault(Exception):
    """What is wrong with a station or with what it sent; the text is for people."""


class ContestData(Struct, frozen=True):
    """The event; `station` is null where the event has no key.

    A station of 1.0 has no `session_length`: its `duration` is that of a session.
    """

    name: Text
    duration: Text
    session_length: Text | None = None
    station: Text | None = None


class StateData(Struct, frozen=True):
    """The course of the event: moments in ISO 8601, or null."""

    frozen: Text | None = None
    thawed: Text | None = None
    finalized: Text | None = None


class ProblemData(Struct, frozen=True):
    """The track."""

    test_data_count: Count | None = None


class OrganizationData(Struct, frozen=True):
    """The organisation of the team with the same id."""

    name: Text


class TeamData(Struct, frozen=True):
    """A team."""

    name: Text
    withdrawn: bool = False
    hidden: bool = False


class SubmissionData(Struct, frozen=True):
    """A session that has started."""

    team_id: Text | None
    time: Text
    end_time: Text | None = None
    problem_id: Text | None = None


class JudgementData(Figures, frozen=True, kw_only=True):
    """The result of a session; what a station does not tell is not known.

    `conditions` say how the session was run and scored; a station of 1.0 tells none. They are read
    by `read_conditions`, which takes no value that is none.
    """

    judgement_type_id: Text | None
    conditions: Mapping[str, Any] | None = None


def with_conditions(judgement: JudgementData, conditions: Conditions) -> JudgementData:
    """Return a judgement with how its session was run, as a feed tells it."""
    return structs.replace(judgement, conditions=asdict(conditions))


Data = (
    ContestData
    | StateData
    | ProblemData
    | OrganizationData
    | TeamData
    | SubmissionData
    | JudgementData
)

_KINDS: dict[str, type[Struct]] = {
    "contest": ContestData,
    "state": StateData,
    "problems": ProblemData,
    "organizations": OrganizationData,
    "teams": TeamData,
    "submissions": SubmissionData,
    "judgements": JudgementData,
}
_DECODE = {kind: msgspec.json.Decoder(data | None) for kind, data in _KINDS.items()}
_MOMENTS = ("frozen", "thawed", "finalized", "time", "end_time")


class Notification(Struct, frozen=True):
    """A line: what an object is now; `data` is None for one that was removed."""

    type: Text
    id: Text | None
    token: Text
    data: Data | None


class _Line(Struct, frozen=True):
    type: Text
    id: Text | None
    token: Text
    data: msgspec.Raw


_LINE = msgspec.json.Decoder(_Line)


def read_notifications(content: bytes) -> list[Notification]:
    """Return the lines of a feed, in their order; raise `StationFault` if any is malformed."""
    if content.count(b"\n") > LINES_MOST:
        raise StationFault(f"its feed has more than {LINES_MOST} lines")
    notifications = []
    for number, line in enumerate(content.split(b"\n"), 1):
        if line.strip():
            try:
                notifications.append(_read(line))
            except (ValueError, RecursionError, OverflowError) as error:
                raise StationFault(f"line {number} of its feed is malformed: {error}") from None
    return [one for one in notifications if one.type in _KINDS]


def _read(line: bytes) -> Notification:
    message = _LINE.decode(line)
    if not _TOKEN.fullmatch(message.token):
        raise ValueError("its token is none")
    if message.type not in _KINDS:
        return Notification(message.type, message.id, message.token, None)
    data = _DECODE[message.type].decode(message.data)
    _require_plain(message.id)
    for name in () if data is None else data.__struct_fields__:
        _require_plain(getattr(data, name))
        if name in _MOMENTS and getattr(data, name) is not None:
            moment_of(getattr(data, name))
    if isinstance(data, ContestData):
        seconds_of(data.session_length or data.duration)
    return Notification(message.type, message.id, message.token, data)


def _require_plain(value: object) -> None:
    """Refuse what could harm a terminal, and numbers that are none."""
    if isinstance(value, str) and unfit_character(value):
        raise ValueError("a text has characters that cannot be printed")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a number is not finite")


def moment_of(text: str) -> datetime:
    """Return a moment of the feed; raise ValueError for another text, or without a time zone."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"'{text}' has no time zone")
    return moment


def seconds_of(duration: str) -> float:
    """Return the seconds of a duration h:mm:ss.sss; raise ValueError for another text."""
    parts = _DURATION.fullmatch(duration)
    if parts is None:
        raise ValueError(f"'{duration}' is no duration")
    hours, minutes, seconds, thousandths = parts.groups(default="0")
    return 3600 * int(hours) + 60 * int(minutes) + int(seconds) + int(f"{thousandths:0<3}") / 1000
