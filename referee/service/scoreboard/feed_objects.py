# SPDX-License-Identifier: Apache-2.0
"""The objects of the feed, in the shape of the CLICS contest API, made of the stored facts.

Each object stands at the number of the newest change of its subject. An object of the same subject
has a higher `place`. So the objects have one order, which grows with the commits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from referee.core.conditions import Difference
from referee.core.instant import Instant
from referee.service.scoreboard.facts import Facts, PublicSession
from referee.service.teams.roster import RosterTeam

VERDICTS = {
    "VALID": "The energy is valid.",
    "SUSPECT": "The energy is suspect: it counts, and people look at it.",
    "INVALID": "There is no valid energy, and so no score.",
}


# What decides which sessions are compared, and how they were run.
_MARKING = {"team", "session", "judgement"}
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
    data: dict[str, Any] | None


def feed_objects(facts: Facts) -> tuple[FeedObject, ...]:
    """Return the objects in their order."""
    objects = [
        FeedObject(change, at, f"{change}.{at}.{facts.nonces[change]}", kind, own, data)
        for (subject, place), kind, own, data in _objects(facts)
        for newest in [facts.changes.get(subject)]
        if newest is not None
        for change, at in [_moved(facts, subject, newest, place, data)]
    ]
    return tuple(sorted(objects, key=lambda one: (one.change, one.place)))


def _moved(
    facts: Facts, subject: tuple[str, int], change: int, place: int, data: object
) -> tuple[int, int]:
    """Return where an object stands: a judgement of a mixed event stands behind all changes.

    Its mark depends on other sessions, so each of their changes may be one of the mark. Where all
    sessions were alike there is no mark that could change.
    """
    if subject[0] != "judgement" or data is None or not facts.is_mixed:
        return change, place
    newest = max(number for (of, _), number in facts.changes.items() if of in _MARKING)
    return newest, _BEHIND + subject[1]


_Object = tuple[tuple[tuple[str, int], int], str, str | None, dict[str, Any] | None]


def _objects(facts: Facts) -> Iterator[_Object]:
    """Yield each object with its subject, and its place among the objects of that subject."""
    whole = ("contest", 0)
    yield (whole, 0), "contest", "contest", _contest(facts)
    for place, (verdict, text) in enumerate(VERDICTS.items(), 1):
        solved = verdict != "INVALID"
        data = {"id": verdict, "name": text, "penalty": False, "solved": solved}
        yield (whole, place), "judgement-types", verdict, data
    yield (whole, 4), "problems", facts.track, _problem(facts)
    yield (("state", 0), 0), "state", None, _state(facts)
    yield from _teams(facts)
    marks = {entry.session: entry.differs for entry in facts.results.entries}
    for played in facts.played:
        number = played.session.session_id
        own = str(number)
        yield (("session", number), 0), "submissions", own, _submission(facts, played)
        yield (("judgement", number), 0), "judgements", own, _judgement(played, marks)
    yield from _awards(facts)


def _contest(facts: Facts) -> dict[str, Any]:
    name = facts.results.contest
    return {
        "id": "contest",
        "name": name,
        "formal_name": name,
        "start_time": None,
        "duration": relative_time(facts.results.seconds or 0),
        "scoreboard_type": "score",
        "energy_unit": "Wh",
        "station": facts.station,
    }


def _problem(facts: Facts) -> dict[str, Any]:
    images = facts.results.images
    return {
        **{"id": facts.track, "label": "A", "name": facts.track, "ordinal": 1},
        "test_data_count": images,
    }


def _state(facts: Facts) -> dict[str, Any]:
    first = min(
        (
            played.session.facts.started.utc
            for played in facts.played
            if played.session.facts.started
        ),
        default=None,
    )
    final = facts.results.approved_utc if facts.results.final else None
    ended = None if facts.frozen else final
    over = ended if facts.thaw is None or ended is None else max(ended, facts.thaw.utc)
    return {
        "started": None if first is None else absolute_time(first),
        "ended": absolute_text(ended),
        "frozen": None if facts.freezing is None else absolute_text(facts.freezing.utc),
        "thawed": None if facts.thaw is None else absolute_text(facts.thaw.utc),
        "finalized": absolute_text(ended),
        "end_of_updates": absolute_text(over),
    }


def _teams(facts: Facts) -> Iterator[_Object]:
    here = {team.team_id: team for team in facts.roster.teams if team.team_id is not None}
    known = {number for subject, number in facts.changes if subject == "team"}
    for number in sorted(known | set(here)):
        team = here.get(number)
        subject = ("team", number)
        if number in facts.organised:
            yield (subject, 0), "organizations", str(number), _organisation(number, team)
        yield (subject, 1), "teams", str(number), None if team is None else _team(number, team)


def _organisation(number: int, team: RosterTeam | None) -> dict[str, Any] | None:
    if team is None or not team.registration.organisation:
        return None
    return {"id": str(number), "name": team.registration.organisation}


def _team(number: int, team: RosterTeam) -> dict[str, Any]:
    return {
        "id": str(number),
        "label": str(number),
        "name": team.name,
        "organization_id": str(number) if team.registration.organisation else None,
        "hidden": False,
        "withdrawn": team.withdrawn,
    }


def _submission(facts: Facts, played: PublicSession) -> dict[str, Any] | None:
    session = played.session
    started = session.facts.started
    if session.facts.voided is not None or started is None:
        return None
    teams = {team.name: team.team_id for team in facts.roster.teams}
    number = teams.get(session.team)
    return {
        "id": str(session.session_id),
        "problem_id": session.track,
        "team_id": None if number is None else str(number),
        "time": absolute_time(started),
        "end_time": None if session.facts.ended is None else absolute_time(session.facts.ended),
        "length": relative_time(session.facts.length_s),
        "lane": session.lane,
    }


def _judgement(
    played: PublicSession, marks: Mapping[int | None, Sequence[Difference]]
) -> dict[str, Any] | None:
    """Return a session's judgement; None while it has no energy, and for a void session."""
    session, energy = played.session, played.energy
    if session.facts.voided is not None or energy is None:
        return None
    ended = session.facts.ended
    return {
        "id": str(session.session_id),
        "submission_id": str(session.session_id),
        "judgement_type_id": energy.verdict if played.is_scored else None,
        "start_time": None if ended is None else absolute_time(ended),
        "end_time": None if session.facts.scored is None else absolute_time(session.facts.scored),
        **played.figures.values(),
        "conditions": None if played.conditions is None else asdict(played.conditions),
        "differs": [asdict(one) for one in marks.get(session.session_id, ())],
    }


def _awards(facts: Facts) -> Iterator[_Object]:
    """Yield the prizes; they are removed when final results are opened again."""
    teams = {team.name: str(team.team_id) for team in facts.roster.teams}
    for place, prize in enumerate(facts.results.prizes):
        own = prize.prize.replace(" ", "-")
        winners = [teams[name] for name in prize.winners if name in teams]
        data = {"id": own, "citation": prize.prize, "team_ids": winners}
        shown = facts.results.final and not facts.frozen
        yield (("awards", 0), place), "awards", own, data if shown else None


def absolute_time(at: Instant | datetime) -> str:
    """Return a moment as the contest API writes it: ISO 8601 with milliseconds, in UTC."""
    moment = at.utc if isinstance(at, Instant) else at
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def absolute_text(utc: str | None) -> str | None:
    """Return a stored moment as the contest API writes it."""
    return None if utc is None else absolute_time(datetime.fromisoformat(utc))


def relative_time(seconds: float) -> str:
    """Return a duration as the contest API writes it: h:mm:ss.sss."""
    whole = round(1000 * seconds)
    minutes, milliseconds = divmod(whole, 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{milliseconds // 1000:02d}.{milliseconds % 1000:03d}"
