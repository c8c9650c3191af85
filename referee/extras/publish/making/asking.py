# SPDX-License-Identifier: Apache-2.0
"""The scoreboard's own application, asked in this process: a site has what it answers.

So a site never shows more than the scoreboard does, and shows it in the same bytes.
"""

from __future__ import annotations

import json

from referee.core.blocking import run_here
from referee.errors import Unavailable
from referee.extras.publish.site_folder import JsonObject
from referee.service.event.newest_charts import Charts
from referee.service.scoreboard.publisher import PublicSnapshot, Publisher
from referee.service.scoreboard.team_sessions import TeamSessions
from referee.service.setup.contest import Contest
from referee.web.scoreboard.app import Show, scoreboard_app
from referee.web.scoreboard.streams import Streams

_OK = 200


class Scoreboard:
    """The scoreboard at the moment of the last `look`."""

    def __init__(self, contest: Contest) -> None:
        self._streams = Streams(Publisher(contest), run_here)
        show = Show(self._streams, Charts(), TeamSessions(contest), run_here)
        self._client = scoreboard_app(show).test_client()

    def look(self) -> PublicSnapshot:
        """Return what the public sees now; until the next look all answers are of this moment."""
        return self._streams.look()

    def answer(self, path: str) -> bytes | None:
        """Return what the scoreboard answers, or None for what it does not show."""
        answer = self._client.get(path)
        return answer.data if answer.status_code == _OK else None

    def text(self, path: str) -> str:
        """Return what the scoreboard always shows; raise `Unavailable` if it does not."""
        answer = self.answer(path)
        if answer is None:
            raise Unavailable(f"The scoreboard does not show {path}; the log says why.")
        return answer.decode()

    def document(self, path: str) -> JsonObject:
        """Return a JSON object that the scoreboard shows; an empty one if it does not."""
        answer = self.answer(path)
        return {} if answer is None else dict(json.loads(answer))
