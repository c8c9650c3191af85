# SPDX-License-Identifier: Apache-2.0
"""The program of a joint board's pages: it reads the board's files, and asks no station."""

from __future__ import annotations

from pathlib import Path

from referee.service.scoreboard.charts import Charts
from referee.service.setup.clock import SystemClock
from referee.extras.stations.joint_board import BoardFiles
from referee.web.scoreboard.app import Show, scoreboard_app
from referee.web.scoreboard.streams import Streams
from referee.web.server.aside import make_aside
from referee.web.server.server import Running, serve


def run_board_pages(folder: Path, descriptor: int) -> None:
    """Serve the audience until SIGTERM."""

    def make() -> Running:
        streams = Streams(BoardFiles(folder, SystemClock()), make_aside("gevent", 1))
        streams.start()
        show = Show(streams, Charts(), None, make_aside("gevent", 1))
        return Running(scoreboard_app(show), streams.close, stop=streams.stop)

    serve(
        make,
        descriptor=descriptor,
        workers=1,
        threads=1,
        name="referee-board",
        kind="gevent",
    )
