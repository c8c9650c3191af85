# SPDX-License-Identifier: Apache-2.0
"""The program of a joint board's pages: it reads the board's files, and asks no station."""

from __future__ import annotations

import argparse
from pathlib import Path

from referee.extras.stations.joint_board import BoardFiles
from referee.service.event.newest_charts import Charts
from referee.service.setup.clock import SystemClock
from referee.service.setup.program import stop_with_parent
from referee.web.scoreboard.app import Show, scoreboard_app
from referee.web.scoreboard.streams import Streams
from referee.web.server.blocking import BlockingPool
from referee.web.server.server import VIEWERS_MOST, Running, serve


def run_board_pages(folder: Path, descriptor: int) -> None:
    """Serve the audience until SIGTERM."""

    def make() -> Running:
        streams = Streams(BoardFiles(folder, SystemClock()), BlockingPool(1))
        streams.start()
        show = Show(streams, Charts(), None, BlockingPool(1))
        return Running(scoreboard_app(show), streams.close, stop=streams.stop)

    serve(
        make,
        descriptor=descriptor,
        workers=1,
        name="referee-board",
        viewers=VIEWERS_MOST,
    )


def main() -> None:
    """Run until SIGTERM, or until the board that started this program has died."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--descriptor", type=int, required=True)
    parser.add_argument("--parent", type=int, required=True)
    args = parser.parse_args()
    stop_with_parent(args.parent)
    run_board_pages(args.folder, args.descriptor)


if __name__ == "__main__":
    main()
