# SPDX-License-Identifier: Apache-2.0
"""The program of the live scorer."""

from __future__ import annotations

import signal
import threading
from types import FrameType

from referee.service.results.live_scorer import LiveScorer
from referee.service.setup.config import Config
from referee.service.setup.contest import open_contest, read_contest_truth


def run_live_scorer(config: Config) -> None:
    """Score sessions until SIGTERM or SIGINT."""
    stopping = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        stopping.set()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    contest = open_contest(config)
    LiveScorer(contest, read_contest_truth(contest)).run(stopping)
    contest.database.close()
