# SPDX-License-Identifier: Apache-2.0
"""The program of the scoreboard: a process of its own, so that no audience touches a session."""

from __future__ import annotations

from referee.service.event.newest_charts import Charts
from referee.service.scoreboard.publisher import Publisher
from referee.service.scoreboard.team_sessions import TeamSessions
from referee.service.setup.config import Config
from referee.service.setup.contest import open_contest
from referee.service.setup.program import Launch
from referee.web.scoreboard.app import Show, scoreboard_app
from referee.web.scoreboard.streams import Streams
from referee.web.server.blocking import BlockingPool
from referee.web.server.server import VIEWERS_MOST, Running, serve


def run_scoreboard(config: Config, launch: Launch) -> None:
    """Serve the audience until SIGTERM; the database is open for reading alone."""

    def make() -> Running:
        contest = open_contest(config, read_only=True)
        streams = Streams(Publisher(contest), BlockingPool(1))
        streams.start()

        def close() -> None:
            streams.close()
            contest.database.close()

        show = Show(streams, Charts(), TeamSessions(contest), BlockingPool(1))
        return Running(scoreboard_app(show), close, stop=streams.stop)

    serve(
        make,
        descriptor=launch.descriptor,
        workers=1,
        name="referee-scoreboard",
        log_requests=config.log.requests,
        proxies=config.server.proxies,
        viewers=VIEWERS_MOST,
    )
