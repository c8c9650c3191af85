# SPDX-License-Identifier: Apache-2.0
"""The board as the console's pages get it; their scripts read these names and no others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from power.values import ReadingJson
from referee.service.display.facts import DisplayFacts
from referee.service.event.result_entry import TrackFigures
from referee.service.setup.config import ContestSection
from referee.service.setup.extra import ConsoleBox
from referee.service.teams.roster_view import Choice


class ShownReading(ReadingJson):
    """A meter's reading, and its age."""

    age_s: float


class ShownMeter(Struct, frozen=True, kw_only=True):
    """A lane's meter.

    `emulated` means that no real meter answers, as far as anybody can tell; `restarts` that the
    referee starts this emulator again. `old` means that its figures no longer change, and
    `unmeasured` that the running session's device works and draws nothing through the meter.
    """

    link: str
    word: str
    text: str
    emulated: bool
    restarts: bool
    other_kind: bool
    model: str | None
    update_interval_s: float
    reading: ShownReading | None
    flags_text: str
    old: bool
    unmeasured: bool


class ShownNote(Struct, frozen=True, kw_only=True):
    """What an operator wrote on a session."""

    text: str
    operator: str
    utc: str


class SessionRow(Struct, frozen=True, kw_only=True):
    """A session in the list; figures are None until they are final.

    `mean_ap` is the track's accuracy, whatever its name. `seen` says who has seen how the session
    ended, or None. `unseen` means that somebody should: a session of an event is over, was not
    voided, and nobody has. `emulated` means that an emulator measures the session; before the
    session's start it says what the configuration plans.
    """

    id: int
    lane: int
    team: str
    state: str
    end_cause: str | None
    void_reason: str | None
    emulated: bool
    mean_ap: float | None
    score: float | None
    score_text: str
    score_about: bool
    energy_wh: float | None
    uncertainty_wh: float | None
    ran_s: float | None
    too_short: bool
    verdict: str | None
    marks: Sequence[str]
    reasons: Sequence[str]
    seen: str | None
    unseen: bool
    rehearsal: bool
    notes: Sequence[ShownNote]


class SessionCard(SessionRow, frozen=True, kw_only=True):
    """A session's big card: its row with the figures so far, and its counts of answers.

    `energy_utc` is the time at which an energy so far was read. `settling_left_s` is how much
    longer the desk waits for a lost meter, None if nothing is awaited. `clients` are what the
    programs that logged in call themselves.
    """

    energy_utc: str | None
    final: bool
    length_s: float
    remaining_s: float
    elapsed_s: float | None
    images_a_second: float | None
    answers_a_second: float | None
    request_age_s: float | None
    settling_left_s: float | None
    images: int
    images_fetched: int
    answers: int
    detections: int
    late_answers: int
    flagged: int
    flag_counts: Mapping[str, int]
    intervals: Sequence[str]
    slip: str | None
    clients: Sequence[str] = ()
    text: str = ""
    verdict_text: str = ""


class ShownNotice(Struct, frozen=True, kw_only=True):
    """A notice, with its session and the session's time."""

    id: int | None
    session: int | None
    at_s: float | None
    utc: str
    level: str
    text: str
    lane: str | None


class AlarmText(Struct, frozen=True, kw_only=True):
    """An alarm of a lane: `text` is for everybody, `detail` for who looks after the meter."""

    text: str
    detail: str = ""


class ShownAlarm(AlarmText, frozen=True, kw_only=True):
    """An alarm of the red bar, with the name of its lane, and who has seen it."""

    lane: str
    seen: str | None = None


class NextSession(Struct, frozen=True, kw_only=True):
    """The session that a lane can arm."""

    id: int
    team: str


class LaneOfBoard(Struct, frozen=True, kw_only=True):
    """A lane.

    `current` is the session on the big card, or None without sessions. `last` is the session that
    started last of those that are over, or None, and `unseen` has those whose end nobody has seen,
    the oldest first. `next` is the oldest READY session, or None. `alarm` is None while nothing is
    wrong in this lane.
    """

    number: int
    name: str
    urls: Sequence[str]
    meter: ShownMeter
    display: DisplayFacts | None
    current: SessionCard | None
    last: SessionRow | None
    unseen: Sequence[SessionRow]
    next: NextSession | None
    alarm: AlarmText | None


class Contestants(Struct, frozen=True, kw_only=True):
    """Where contestants connect, and the password of a practice."""

    urls: Sequence[str]
    password: str | None


class ShownBoard(Struct, frozen=True, kw_only=True):
    """The whole board.

    `settings` has each setting of the section `[contest]` by its name. `scored_with` says which
    files will score the sessions that come, if not those of the preparation. `teams` are in the
    running order; `choices` has by team what somebody who makes the next session must know,
    `next_teams` who is next in each lane, and `teams_text` why they cannot be read, or None.
    `guests` has the boxes of the guests that take part. `alarms` are those of the red bar, and
    `alarm` is the first of them.
    """

    settings: ContestSection
    final: bool
    scored_with: str
    images: int
    classes: int
    figures: TrackFigures
    utc: str
    contestants: Contestants
    teams: Sequence[str]
    choices: Mapping[str, Choice]
    next_teams: Mapping[int, str]
    teams_text: str | None
    lanes: Sequence[LaneOfBoard]
    guests: Sequence[ConsoleBox]
    alarm: ShownAlarm | None
    alarms: Sequence[ShownAlarm]
    sessions: Sequence[SessionRow]
    notices: Sequence[ShownNotice]
