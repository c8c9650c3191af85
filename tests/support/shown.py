# SPDX-License-Identifier: Apache-2.0
"""What the console shows: as JSON, and its parts as a test wants them."""

from __future__ import annotations

from typing import Any

import msgspec

from referee.service.board.shown import (
    Contestants,
    LaneOfBoard,
    SessionCard,
    ShownBoard,
    ShownMeter,
    ShownNotice,
    ShownReading,
)
from referee.service.event.result_entry import TrackFigures
from referee.service.setup.config import ContestSection
from referee.tracks.track import Figure


def as_json(document: object) -> Any:
    """Return the plain values of a document, as a page reads them."""
    return msgspec.json.decode(msgspec.json.encode(document))


def shown_reading(**changes: Any) -> ShownReading:
    """Return a reading of a meter that integrates, taken just now."""
    measured = {"voltage_v": 230.0, "current_a": 0.1, "power_w": 5.0, "energy_wh": 0.5}
    ranges = {"voltage_range_v": 300.0, "current_range_a": 0.5}
    quality = {"power_factor": 1.0, "frequency_hz": 50.0}
    peaks = {"voltage_peak_v": 325.0, "current_peak_a": 0.14}
    rest = {"monotonic_s": 100.0, "utc": "2026-06-07T12:00:00+00:00", "integration_s": 360}
    said = {"state": "START", "absent": {}, "flags": [], "age_s": 0.2}
    return ShownReading(**(measured | ranges | quality | peaks | rest | said | changes))


def shown_meter(link: str = "ok", *, old: bool = False, **changes: Any) -> ShownMeter:
    """Return a meter without a reading."""
    what = {"link": link, "old": old, "word": link, "text": "No answer.", "model": "WT310E 1"}
    where = {"emulated": False, "restarts": False, "other_kind": False, "unmeasured": False}
    rest = {"reading": None, "update_interval_s": 1.0, "flags_text": ""}
    return ShownMeter(**(what | where | rest | changes))


def shown_card(state: str = "RUNNING", **changes: Any) -> SessionCard:
    """Return the big card of session 3 in a state."""
    over = state in ("ENDED", "SCORED", "SEALED")
    scored = state in ("SCORED", "SEALED")
    row = {
        "id": 3,
        "lane": 1,
        "team": "ants",
        "state": state,
        "end_cause": "deadline" if over else None,
        "void_reason": "wrong device" if state == "VOID" else None,
        "emulated": False,
        "mean_ap": 0.25 if scored else None,
        "score": 12.5 if scored else None,
        "score_text": "12.5" if scored else "",
        "score_about": False,
        "energy_wh": 0.02 if scored else None,
        "uncertainty_wh": 0.001 if scored else None,
        "ran_s": 600.0,
        "too_short": False,
        "verdict": "VALID" if scored else None,
        "marks": [],
        "reasons": [],
        "seen": None,
        "unseen": False,
        "rehearsal": False,
        "notes": [],
    }
    times = {"length_s": 600.0, "remaining_s": 0.0, "elapsed_s": 600.0, "request_age_s": 1.0}
    rates = {"images_a_second": 10.0, "answers_a_second": 1.0}
    settling = {"settling_left_s": 119.5 if state == "ENDED" else None}
    counts = {"images": 100, "images_fetched": 100, "answers": 10, "detections": 500}
    faults = {"late_answers": 0, "flagged": 0, "flag_counts": {}}
    figures = {"energy_utc": None, "final": scored, "intervals": [], "slip": None}
    return SessionCard(**(row | times | rates | settling | counts | faults | figures | changes))


def shown_lane(card: SessionCard | None, meter: ShownMeter, number: int = 1) -> LaneOfBoard:
    """Return a lane with its session, if it has one."""
    rest: dict[str, Any] = {"display": None, "last": None, "unseen": [], "next": None}
    return LaneOfBoard(
        number=number, name="", urls=[], meter=meter, current=card, alarm=None, **rest
    )


def shown_board(*lanes: LaneOfBoard, **changes: Any) -> ShownBoard:
    """Return a board with lanes."""
    figure = Figure("mean_ap", "mAP")
    figures = TrackFigures(figure, figure)
    settings = ContestSection(name="cup")
    contest = {"settings": settings, "final": False, "utc": "12:00:00"}
    inputs = {"scored_with": "", "images": 100, "classes": 20}
    teams = {"teams": [], "choices": {}, "next_teams": {}, "teams_text": None}
    told = {"guests": [], "alarm": None, "alarms": [], "sessions": [], "notices": []}
    rest: dict[str, Any] = {"contestants": Contestants(urls=[], password=None), "figures": figures}
    return ShownBoard(lanes=lanes, **(contest | inputs | teams | told | rest | changes))


def shown_notice(level: str, text: str, utc: str) -> ShownNotice:
    """Return a notice of lane 1."""
    return ShownNotice(id=1, session=None, at_s=None, utc=utc, level=level, text=text, lane="")
