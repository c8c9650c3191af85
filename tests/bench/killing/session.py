# SPDX-License-Identifier: Apache-2.0
"""One session: its team posts without pause, its kills come as planned, and it is judged."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from referee.service.setup.clock import real_elapsed_s
from tests.bench.killing import judging, stored
from tests.bench.killing.hall import IMAGES, Hall
from tests.bench.killing.plan import Kill, Moment, Target
from tests.bench.killing.poster import Attempt, Poster, log_in
from tests.support.running import get, request

T = TypeVar("T")

_CONNECTIONS = 3
# So long after the deadline the team goes on: its answers must be late.
_GO_ON_S = 1.0
# Settling waits two minutes for a meter that is lost.
_SCORE_S = 240.0
_LOGIN_S = 120.0
_READY_S = 120.0
_WATCH_S = 0.004
_PAUSE = threading.Event()
# A target whose death takes the control desk with it.
_TAKES_DESK = (Target.DESK, Target.SUPERVISOR, Target.EVERYTHING, Target.POWER)


@dataclass
class Played:
    """What became of a session; `faults` has a sentence for each promise that did not hold.

    `dark` counts replies after a power cut, and `dark_lost` those of them that are not stored.
    `recorded_s` is when the end was seen in the database, in seconds after the deadline; `ended_s`
    is the recorded end itself. `desk_lived` tells whether a control desk was at work then.
    """

    session: int
    length_s: float
    kills: list[tuple[Kill, float]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    acknowledged: int = 0
    unanswered: int = 0
    late: int = 0
    lost: int = 0
    dark: int = 0
    dark_lost: int = 0
    ended_s: float = 0.0
    recorded_s: float = 0.0
    desk_lived: bool = True
    verdict: str = ""
    reasons: list[str] = field(default_factory=list)
    energy_error_wh: float = 0.0
    uncertainty_wh: float = 0.0
    wrong_valid: bool = False
    scored: bool = False
    load: str = ""


class Team(threading.Thread):
    """The thread of a team: it logs in as often as it takes, and then posts until it is stopped."""

    def __init__(self, hall: Hall, name: str, seed: int) -> None:
        super().__init__(name=name, daemon=True)
        self._address = hall.config.lane(1).contest
        self._password = hall.passwords[name]
        self._seed = seed
        self._stopping = threading.Event()
        self.token = ""
        self.trouble: Exception | None = None
        self.poster: Poster | None = None
        self.attempts: list[Attempt] = []
        self.refused_images: list[tuple[float, int]] = []

    def run(self) -> None:
        """Take part."""
        try:
            self.token = log_in(self._address, self.name, self._password, _LOGIN_S)
        except Exception as error:
            self.trouble = error
            return
        self.poster = poster = Poster(self._address, self.token, IMAGES, _CONNECTIONS, self._seed)
        self._stopping.wait()
        self.attempts = poster.stop()
        self.refused_images = poster.refused_images

    def stop(self) -> None:
        """Let the team end."""
        self._stopping.set()
        self.join()


def play(
    hall: Hall,
    name: str,
    kills: Sequence[Kill],
    chance: random.Random,
    played: Played,
    *,
    answer_first: bool = False,
) -> None:
    """Play a team's session with these kills, wait until it is scored, and judge it.

    With `answer_first` the kills of the run count from the first answer that was acknowledged, and
    not from the start.
    """
    hall.start()
    database = hall.config.database
    played.session = number = _armed(hall, name)
    team = Team(hall, name, chance.randrange(2**32))
    logged_in_s = real_elapsed_s()
    team.start()
    _carry_out(hall, played, [k for k in kills if k.moment is Moment.LOGIN], logged_in_s, chance)
    start_s = _wait_for(
        lambda: stored.event_s(database, number, "started"), _LOGIN_S, lambda: team.trouble
    )
    deadline_s = start_s + played.length_s
    watch = threading.Thread(
        target=_watch, args=(database, played, deadline_s), name="watch", daemon=True
    )
    watch.start()
    if answer_first:
        _wait_for(lambda: team.poster is not None and team.poster.acknowledged, played.length_s)
        start_of_kills_s = real_elapsed_s()
    else:
        start_of_kills_s = start_s
    _carry_out(hall, played, [k for k in kills if k.moment is Moment.RUN], start_of_kills_s, chance)
    leave = threading.Timer(max(0.0, deadline_s + _GO_ON_S - real_elapsed_s()), team.stop)
    leave.start()
    _carry_out(hall, played, [k for k in kills if k.moment is Moment.DEADLINE], deadline_s, chance)
    hall.start()
    leave.join()
    watch.join()
    _settle(hall, played)
    _judge(hall, played, team, start_s)


def _armed(hall: Hall, team: str) -> int:
    """Do what an operator does before a session, again if it did not work; return its number."""

    def make() -> int | None:
        act(hall, "sessions", team=team, operator="Kim")
        found = stored.query(hall.config.database, "select max(session_id) from sessions")
        return int(str(found[0][0])) if found else None

    def arm(number: int) -> bool:
        act(hall, f"sessions/{number}/arm", operator="Kim")
        return stored.event_s(hall.config.database, number, "armed") is not None

    number = _wait_for(make, _READY_S)
    _wait_for(lambda: arm(number), _READY_S)
    return number


def act(hall: Hall, path: str, **arguments: object) -> str:
    """Act as an operator on the console; return what it says, '' where it is away."""
    try:
        key = json.loads(get(f"{hall.host.console}/form-key")[1])["key"]
        headers = {"Content-Type": "application/json", "X-Form-Key": key}
        body = json.dumps(arguments).encode()
        return request(f"{hall.host.console}/{path}", body, headers)[1].decode()
    except OSError:
        return ""


def _carry_out(
    hall: Hall, played: Played, kills: Sequence[Kill], from_s: float, chance: random.Random
) -> None:
    for kill in sorted(kills, key=lambda one: one.seconds):
        _PAUSE.wait(max(0.0, from_s + kill.seconds - real_elapsed_s()))
        at_s = real_elapsed_s()
        hall.hit(kill.target, chance)
        played.kills.append((kill, at_s))


def _watch(database: Path, played: Played, deadline_s: float) -> None:
    """Note when the end of a session is first seen in the database."""
    _PAUSE.wait(max(0.0, deadline_s - 0.1 - real_elapsed_s()))
    until_s = real_elapsed_s() + _SCORE_S
    while real_elapsed_s() < until_s:
        ended_s = stored.event_s(database, played.session, "ended")
        looked_s = real_elapsed_s()
        if ended_s is not None:
            played.ended_s, played.recorded_s = ended_s - deadline_s, looked_s - deadline_s
            return
        _PAUSE.wait(_WATCH_S)


def _settle(hall: Hall, played: Played) -> None:
    """Wait until the session is scored."""
    sql = "select count(*) from scoring_runs where session_id = ?"
    try:
        _wait_for(
            lambda: stored.query(hall.config.database, sql, played.session) not in ([], [(0,)]),
            _SCORE_S,
        )
        played.scored = True
    except TimeoutError:
        played.faults.append("the session is not scored")


def _judge(hall: Hall, played: Played, team: Team, start_s: float) -> None:
    database, config = hall.config.database, hall.config
    found = stored.answers_of(database, played.session)
    attempts = team.attempts
    lost = judging.lost_answers(attempts, found, hall.cuts_s)
    everything = judging.lost_answers(attempts, found)
    played.dark = sum(
        bool(one.told) and judging.in_the_dark(one.over_s, hall.cuts_s) for one in attempts
    )
    played.dark_lost = len(everything) - len(lost)
    played.acknowledged = sum(one.told == "stored" for one in attempts)
    played.late = sum(one.told == "late" for one in attempts)
    played.unanswered = sum(not one.told for one in attempts)
    played.lost = len(lost)
    played.faults += lost
    played.faults += judging.odd_answers(attempts, found, IMAGES, hall.cuts_s)
    played.faults += judging.over_the_deadline(
        attempts, found, start_s, played.length_s, hall.cuts_s
    )
    deadline_s = start_s + played.length_s
    played.faults += [
        f"an image was refused with {status}, {deadline_s - at_s:.3f} s before the deadline"
        for at_s, status in team.refused_images
        if at_s < deadline_s and not judging.in_the_dark(at_s, hall.cuts_s)
    ]
    played.desk_lived = _desk_lived(database, played, deadline_s)
    _judge_energy(hall, played)
    truth = config.images.ground_truth
    if played.scored and truth is not None:
        key = config.path.parent / "signing.pub"
        folder = config.path.parents[2]
        played.faults += judging.evidence_faults(
            config.path, played.session, folder, truth, key, found
        )
    played.load = Path("/proc/loadavg").read_text().split()[0]


def _judge_energy(hall: Hall, played: Played) -> None:
    """Compare the newest energy with that of the load itself."""
    sql = (
        "select verdict, energy_wh, uncertainty_wh, detail from energies where session_id = ?"
        " order by energy_id desc limit 1"
    )
    for verdict, energy_wh, uncertainty_wh, detail in stored.query(
        hall.config.database, sql, played.session
    ):
        played.verdict = str(verdict)
        told = json.loads(str(detail))
        played.reasons = [one["code"] for one in told["findings"]]
        if energy_wh is not None:
            played.uncertainty_wh = float(str(uncertainty_wh))
            played.energy_error_wh = float(str(energy_wh)) - hall.meter.true_wh(told["session_s"])
    wrong = abs(played.energy_error_wh) > played.uncertainty_wh
    played.wrong_valid = played.verdict == "VALID" and wrong
    if played.wrong_valid:
        played.faults.append(f"a VALID energy is {played.energy_error_wh:.6f} Wh wrong")


def _desk_lived(database: Path, played: Played, deadline_s: float) -> bool:
    """Tell whether a desk was at work when the deadline came, and until the end was recorded."""
    unix_s = time.time() - real_elapsed_s()
    back = [at_s - unix_s for at_s in stored.recoveries(database, played.session)]
    hits = [at_s for kill, at_s in played.kills if kill.target in _TAKES_DESK]
    hits = [at_s for at_s in hits if at_s < deadline_s + min(played.recorded_s, 0.05)]
    return all(any(at_s < one < deadline_s for one in back) for at_s in hits[-1:])


def _wait_for(
    look: Callable[[], T | None],
    patience_s: float,
    trouble: Callable[[], Exception | None] = lambda: None,
) -> T:
    """Call `look` until it returns something true; raise what troubles, or `TimeoutError`."""
    until_s = time.monotonic() + patience_s
    while time.monotonic() < until_s:
        found = look()
        if found:
            return found
        error = trouble()
        if error is not None:
            raise error
        _PAUSE.wait(0.05)
    raise TimeoutError(f"waited {patience_s:.0f} s in vain")
