# SPDX-License-Identifier: Apache-2.0
"""The objects of the feed, in the shape of the CLICS contest API, made of the stored facts.

Each object stands at the number of the newest change of its subject. An object of the same subject
has a higher `place`. So the objects have one order, which grows with the commits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from msgspec import UNSET

from referee.core.conditions import Difference
from referee.service.scoreboard.facts import Facts, PublicSession
from referee.service.scoreboard.feed_data import (
    AwardObject,
    ContestObject,
    FeedData,
    FeedJson,
    JudgementObject,
    JudgementType,
    OrganizationObject,
    ProblemObject,
    StateObject,
    SubmissionObject,
    TeamObject,
    told,
)
from referee.service.scoreboard.feed_times import (
    absolute_time,
    relative_time,
    since,
    start_of,
    until_last_end,
)
from referee.service.teams.roster import RosterTeam

VERDICTS = {
    "VALID": "The energy is valid.",
    "SUSPECT": "The energy is suspect: it counts, and people look at it.",
    "INVALID": "There is no valid energy, and so no score.",
}


# What decides which sessions are compared, and how they were run.
_MARKING = {"team", "session", "judgement"}
# What decides when the event began, and how long it has been.
_LASTING = {"contest", "session"}
# The place of the contest, also at the change of a session, where the session has others.
_OF_CONTEST = 9
# No object of a subject has a place from here on.
_BEHIND = 10


@dataclass(frozen=True)
class FeedObject:
    """One object with its place in the order; `data` is None for an object that was removed.

    `token` names the place, also to another process and after a restart. `id` is None for the one
    object of a kind that has only one.
    """

    change: int
    place: int
    token: str
    type: str
    id: str | None
    data: FeedJson | None


def feed_objects(facts: Facts) -> tuple[FeedObject, ...]:
    """Return the objects in their order."""
    objects = [
        FeedObject(change, at, token, kind, own, None if data is None else told(data))
        for (subject, place), kind, own, data in _objects(facts)
        for newest in [facts.changes.get(subject)]
        if newest is not None
        for change, at in [_moved(facts, (subject, newest), kind, place, data)]
        for token in [f"{change}.{at}.{facts.nonces[change]}"]
    ]
    return tuple(sorted(objects, key=lambda one: (one.change, one.place)))


def _moved(
    facts: Facts, stands: tuple[tuple[str, int], int], kind: str, place: int, data: object
) -> tuple[int, int]:
    """Return where an object stands that other subjects change too.

    The contest has the start of the first session and the end of the last one. A judgement of a
    mixed event stands behind all changes: its mark depends on other sessions, so each of their
    changes may be one of the mark. Where all sessions were alike no mark can change.
    """
    (name, number), change = stands
    if kind == "contest":
        return _newest(facts, _LASTING), place
    if name != "judgement" or data is None or not facts.is_mixed:
        return change, place
    return _newest(facts, _MARKING), _BEHIND + number


def _newest(facts: Facts, subjects: set[str]) -> int:
    return max(number for (of, _), number in facts.changes.items() if of in subjects)


_Object = tuple[tuple[tuple[str, int], int], str, str | None, FeedData | None]


def _objects(facts: Facts) -> Iterator[_Object]:
    """Yield each object with its subject, and its place among the objects of that subject."""
    whole = ("contest", 0)
    yield (whole, _OF_CONTEST), "contest", None, _contest(facts)
    for place, (verdict, text) in enumerate(VERDICTS.items(), 1):
        kind = JudgementType(id=verdict, name=text, solved=verdict != "INVALID")
        yield (whole, place), "judgement-types", verdict, kind
    yield (whole, 4), "problems", facts.track, _problem(facts)
    yield (("state", 0), 0), "state", None, _state(facts)
    yield from _teams(facts)
    marks = {entry.session: entry.differs for entry in facts.results.entries}
    start = start_of([played.session.facts for played in facts.played])
    for played in facts.played:
        number = played.session.session_id
        object_id = str(number)
        yield (("session", number), 0), "submissions", object_id, _submission(facts, played, start)
        yield (("judgement", number), 0), "judgements", object_id, _judgement(played, marks, start)
    yield from _awards(facts)


def _contest(facts: Facts) -> ContestObject:
    """Return the event: it lasts from the first start to the last end so far.

    Programs of the API drop what comes later than `duration`, so that is not a session's length.
    """
    name, length_s = facts.results.contest, facts.results.seconds or 0
    sessions = [played.session.facts for played in facts.played]
    start = start_of(sessions)
    return ContestObject(
        name=name,
        formal_name=name,
        start_time=absolute_time(start),
        duration=relative_time(length_s) if start is None else until_last_end(start, sessions),
        session_length=relative_time(length_s),
        station=facts.station,
    )


def _problem(facts: Facts) -> ProblemObject:
    images = facts.results.images
    count = UNSET if images is None else images
    return ProblemObject(id=facts.track, name=facts.track, test_data_count=count)


def _state(facts: Facts) -> StateObject:
    """Return the course of the event, in the order of the API: start, freeze, end, thaw.

    A freeze that was lifted before the end is no step of this order, and leaves no trace.
    """
    start = start_of([played.session.facts for played in facts.played])
    final = facts.results.approved_utc if facts.results.final else None
    ended = None if facts.frozen else _moment(final)
    thawed = None if facts.thaw is None else _moment(facts.thaw.utc)
    if thawed is not None and (ended is None or thawed < ended):
        thawed = None
    frozen = None
    if facts.freezing is not None and (facts.frozen or thawed is not None):
        frozen = _latest(_moment(facts.freezing.utc), start)
    return StateObject(
        started=absolute_time(start),
        ended=absolute_time(ended),
        frozen=absolute_time(frozen),
        thawed=absolute_time(thawed),
        finalized=absolute_time(ended),
        end_of_updates=absolute_time(None if ended is None else _latest(ended, thawed)),
    )


def _moment(utc: str | None) -> datetime | None:
    return None if utc is None else datetime.fromisoformat(utc)


def _latest(*moments: datetime | None) -> datetime:
    return max(at for at in moments if at is not None)


def _teams(facts: Facts) -> Iterator[_Object]:
    here = {team.team_id: team for team in facts.roster.teams if team.team_id is not None}
    known = {number for subject, number in facts.changes if subject == "team"}
    for number in sorted(known | set(here)):
        team = here.get(number)
        subject = ("team", number)
        if number in facts.organised:
            organisation = _organisation(number, team)
            # It comes before a team that names it, and leaves after the team has let it go.
            place = 2 if organisation is None else 0
            yield (subject, place), "organizations", str(number), organisation
        yield (subject, 1), "teams", str(number), None if team is None else _team(number, team)


def _organisation(number: int, team: RosterTeam | None) -> OrganizationObject | None:
    if team is None or not team.registration.organisation:
        return None
    return OrganizationObject(id=str(number), name=team.registration.organisation)


def _team(number: int, team: RosterTeam) -> TeamObject:
    return TeamObject(
        id=str(number),
        label=str(number),
        name=team.name,
        organization_id=str(number) if team.registration.organisation else None,
        withdrawn=team.withdrawn,
    )


def _submission(
    facts: Facts, played: PublicSession, start: datetime | None
) -> SubmissionObject | None:
    session = played.session
    started = session.facts.started
    if session.facts.voided is not None or started is None:
        return None
    teams = {team.name: team.team_id for team in facts.roster.teams}
    number = teams.get(session.team)
    return SubmissionObject(
        id=str(session.session_id),
        problem_id=session.track,
        team_id=None if number is None else str(number),
        time=absolute_time(started),
        contest_time=since(start, started),
        end_time=absolute_time(session.facts.ended),
        length=relative_time(session.facts.length_s),
        lane=session.lane,
    )


def _judgement(
    played: PublicSession,
    marks: Mapping[int | None, Sequence[Difference]],
    start: datetime | None,
) -> JudgementObject | None:
    """Return a session's judgement; None while it has no energy, and for a void session.

    It begins with the end of the session, and is complete with the score.
    """
    session, energy, begun = played.session, played.energy, played.session.facts.ended
    if session.facts.voided is not None or energy is None or begun is None:
        return None
    done = session.facts.scored if played.is_scored else None
    return JudgementObject(
        id=str(session.session_id),
        submission_id=str(session.session_id),
        judgement_type_id=None if done is None else energy.verdict,
        start_time=absolute_time(begun),
        start_contest_time=since(start, begun),
        end_time=absolute_time(done),
        end_contest_time=since(start, done),
        figures=played.figures,
        conditions=played.conditions,
        differs=marks.get(session.session_id, ()),
    )


def _awards(facts: Facts) -> Iterator[_Object]:
    """Yield the prizes; they are removed when final results are opened again."""
    teams = {team.name: str(team.team_id) for team in facts.roster.teams}
    for place, prize in enumerate(facts.results.prizes):
        object_id = prize.prize.replace(" ", "-")
        winners = [teams[name] for name in prize.winners if name in teams]
        award = AwardObject(id=object_id, citation=prize.prize, team_ids=winners)
        shown = facts.results.final and not facts.frozen
        yield (("awards", 0), place), "awards", object_id, award if shown else None
