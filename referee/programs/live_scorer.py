# SPDX-License-Identifier: Apache-2.0
"""The program of the live scorer."""

from __future__ import annotations

import signal
from types import FrameType

from power.signal_flag import SignalFlag
from referee.programs.standing_back import stand_back
from referee.service.results.live_scorer import LiveScorer
from referee.service.setup.config import Config
from referee.service.setup.contest import open_contest, read_contest_truth

# Images, answers and the meter come first. A score may be a moment late.
_NICENESS = 5


def run_live_scorer(config: Config) -> None:
    """Score sessions until SIGTERM or SIGINT."""
    stand_back(_NICENESS)
    stopping = SignalFlag()

    def stop(number: int, frame: FrameType | None) -> None:
        stopping.set()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    contest = open_contest(config)
    LiveScorer(contest, read_contest_truth(contest)).run(stopping.wait)
    contest.database.close()
