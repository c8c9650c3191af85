# SPDX-License-Identifier: Apache-2.0
"""An event in the hands of a test: its sessions run on a real desk, with a meter in memory."""

from __future__ import annotations

from contextlib import contextmanager

from referee.core.detections import Detections, pack
from referee.core.states import EndCause
from referee.service.results.live_scorer import LiveScorer
from referee.service.teams.registration import add_team
from referee.store.answers import Answer, insert_answer
from referee.store.readings import energy_of, insert_energy
from referee.store.teams import Registration
from tests.support.contests import make_contest
from tests.support.fakes import FakeMeter, eventually, running_desk


@contextmanager
def desk_event(folder, clock):
    """Run the desk of an event of eight images without teams, one lane and a meter in memory."""
    contest = make_contest(folder, clock, images=8, mode="event", seconds=600)
    meter = FakeMeter(clock)
    with running_desk(contest, meter) as desk:
        yield Event(contest, desk, meter)
    contest.database.close()


class Event:
    """An event in the hands of a test."""

    def __init__(self, contest, desk, meter):
        self.contest, self.desk, self.meter = contest, desk, meter

    def register(self, *names, **registration):
        """Register teams."""
        for name in names:
            add_team(self.contest, name, Registration(**registration), "Kim")

    def begin(self, team):
        """Let a team's session run, and return its number."""
        number = self.desk.new_session(team, "Kim")
        self.desk.steps_of(number).arm(number, "Kim")
        return self.desk.begin(team, "10.0.0.2")

    def play(self, team, found=4, power_w=6.0, seconds=60.0, verdict="VALID"):
        """Play a session that finds some of the images' boxes, and return its number.

        The clock jumps over the session, so the desk's judge finds gaps. The verdict takes the
        place of the desk's; None leaves that.
        """
        number = self.begin(team)
        # Only now: until it is reset, the meter shows the energy of the session before.
        self.meter.power_w = power_w
        self.answer(number, range(1, found + 1))
        self.contest.clock.advance(seconds)
        self.desk.steps_of(number).end(number, EndCause.STOP, "Kim")
        self.settle(number)
        if verdict is not None:
            self.judge(number, verdict, power_w * seconds / 3600)
        return number

    def answer(self, number, images):
        """Store an answer with the right box of each of these images."""
        rows = [(k, 1, 0.9, k, 2, k + 9, 11) for k in images]
        content = pack(Detections.from_rows(rows))
        answer = Answer(number, 1.0, "", False, "form", "", len(rows), 0, content)
        with self.contest.database.write() as connection:
            insert_answer(connection, answer)

    def settle(self, number):
        """Wait until a session has its energy, and let the scorer look."""
        connection = self.contest.database.connection
        eventually(lambda: energy_of(connection, number))
        self.score()

    def score(self):
        """Let the scorer look once."""
        LiveScorer(self.contest).look()

    def judge(self, number, verdict, energy_wh=0.1, facts=None, *, emulated=False):
        """Store another judged energy, and let the scorer look."""
        reasons = [] if verdict == "VALID" else ["a gap of 2.1 s"]
        detail = {"reasons": reasons, "emulated": emulated} | (
            {} if facts is None else {"facts": facts}
        )
        with self.contest.database.write() as connection:
            insert_energy(
                *(connection, number),
                utc="",
                energy_wh=energy_wh,
                uncertainty_wh=0.001,
                verdict=verdict,
                detail=detail,
            )
        self.score()
