# SPDX-License-Identifier: Apache-2.0
"""An event of many teams whose sessions are over: their rows are written, and nothing is played."""

from __future__ import annotations

from datetime import timedelta

from referee.core.instant import Instant
from referee.service.teams.registration import add_team
from referee.store.readings import insert_energy
from referee.store.scores import ScoringRun, insert_scoring_run
from referee.store.sessions import create_session, record_event
from referee.store.teams import Registration


def name_of(number: int) -> str:
    """Return a team's name."""
    return f"Laboratory of Team {number:03}"


def register_teams(contest, count: int) -> None:
    """Register teams, each with an organisation."""
    for number in range(1, count + 1):
        add_team(contest, name_of(number), Registration(organisation=f"University {number}"), "Kim")


def write_result(
    contest, team: str, accuracy: float, energy_wh: float, uncertainty: float | None = None
) -> int:
    """Write a session with its energy and its score; return its number.

    `uncertainty` is the energy's, as a share of it; the score's interval follows from it.
    """
    begun = contest.clock.now()
    with contest.database.write() as connection:
        number = create_session(
            connection,
            team=team,
            length_s=600.0,
            order_seed=1,
            now=begun,
            lane=1,
            track=contest.track.name,
        )
        for kind, seconds in (("armed", 1.0), ("started", 2.0), ("ended", 602.0)):
            cause = {"cause": "deadline"} if kind == "ended" else {}
            record_event(connection, number, kind, _after(begun, seconds), actor="Kim", **cause)
        detail = {"reasons": [], "emulated": False}
        insert_energy(
            *(connection, number),
            utc=_after(begun, 603.0).utc.isoformat(),
            energy_wh=energy_wh,
            uncertainty_wh=energy_wh / 200,
            verdict="VALID",
            detail=detail,
        )
        energy_id = connection.execute("select max(energy_id) from energies").fetchone()[0]
        score = accuracy / energy_wh
        told: dict[str, object] = {"mean_ap": accuracy, "score": score}
        if uncertainty is not None:
            told |= {"verdict": "VALID", "energy_wh": energy_wh}
            told["uncertainty_wh"] = uncertainty * energy_wh
        run = ScoringRun(0, energy_id, accuracy, score, told)
        insert_scoring_run(connection, number, _after(begun, 604.0), run)
    contest.clock.advance(700.0)
    return number


def _after(begun: Instant, seconds: float) -> Instant:
    return Instant(
        begun.monotonic_s + seconds, begun.utc + timedelta(seconds=seconds), begun.boot_id
    )
