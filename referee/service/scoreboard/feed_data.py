# SPDX-License-Identifier: Apache-2.0
"""What the feed says of each object, field by field, in the shape of the CLICS contest API.

A field that the API wants as a number is left out where there is none: its programs read null as
an error there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import UNSET, Struct, UnsetType, to_builtins

from referee.core.conditions import Conditions, Difference
from referee.service.event.figures import Figures

FeedJson = dict[str, object]
"""An object as it was told, perhaps by an earlier version: a freeze keeps what it had."""


class ContestObject(Struct, frozen=True, kw_only=True):
    """The event; it lasts from the first start to the last end so far."""

    id: str = "contest"
    name: str
    formal_name: str
    start_time: str | None
    duration: str | None
    scoreboard_type: str = "score"
    session_length: str
    energy_unit: str = "Wh"
    station: str | None


class JudgementType(Struct, frozen=True, kw_only=True):
    """A verdict."""

    id: str
    name: str
    penalty: bool = False
    solved: bool


class ProblemObject(Struct, frozen=True, kw_only=True):
    """The track."""

    id: str
    label: str = "A"
    name: str
    ordinal: int = 1
    test_data_count: int | UnsetType = UNSET


class StateObject(Struct, frozen=True, kw_only=True):
    """The course of the event, in the order of the API."""

    started: str | None
    ended: str | None
    frozen: str | None
    thawed: str | None
    finalized: str | None
    end_of_updates: str | None


class OrganizationObject(Struct, frozen=True, kw_only=True):
    """The organisation of the team with the same id."""

    id: str
    name: str


class TeamObject(Struct, frozen=True, kw_only=True):
    """A team."""

    id: str
    label: str
    name: str
    organization_id: str | None
    hidden: bool = False
    withdrawn: bool


class SubmissionObject(Struct, frozen=True, kw_only=True):
    """A session that has started."""

    id: str
    problem_id: str
    team_id: str | None
    time: str | None
    contest_time: str | None
    end_time: str | None
    length: str
    lane: int


class JudgementObject(Struct, frozen=True, kw_only=True):
    """The result of a session; the fields of `figures` stand among the others (`told`)."""

    id: str
    submission_id: str
    judgement_type_id: str | None
    start_time: str | None
    start_contest_time: str | None
    end_time: str | None
    end_contest_time: str | None
    figures: Figures
    conditions: Conditions | None
    differs: Sequence[Difference]


class AwardObject(Struct, frozen=True, kw_only=True):
    """A prize."""

    id: str
    citation: str
    team_ids: Sequence[str]


FeedData = (
    ContestObject
    | JudgementType
    | ProblemObject
    | StateObject
    | OrganizationObject
    | TeamObject
    | SubmissionObject
    | JudgementObject
    | AwardObject
)

FEED_OBJECTS: Mapping[str, type[Struct]] = {
    "contest": ContestObject,
    "judgement-types": JudgementType,
    "problems": ProblemObject,
    "state": StateObject,
    "organizations": OrganizationObject,
    "teams": TeamObject,
    "submissions": SubmissionObject,
    "judgements": JudgementObject,
    "awards": AwardObject,
}
"""What the feed says of an object, by the type that its line names."""


def told(data: FeedData) -> FeedJson:
    """Return an object as the feed tells it: a figure of a judgement is a field like others."""
    fields: FeedJson = {}
    for name, value in to_builtins(data).items():
        fields |= value if name == "figures" else {name: value}
    if isinstance(data, JudgementObject) and data.figures.score is None:
        del fields["score"]
    return fields
