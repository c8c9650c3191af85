# SPDX-License-Identifier: Apache-2.0
"""Stations for tests of a joint board: lines of a feed, answers of any kind, and real events."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import contextmanager
from datetime import UTC, datetime

from flask import request
from werkzeug.serving import make_server

from referee.core.blocking import run_here
from referee.extras.stations.address import StationAddress
from referee.extras.stations.follower import Followed
from referee.extras.stations.notification import read_notifications
from referee.extras.stations.station_state import SavedState, StationState, after
from referee.service.event.newest_charts import Charts
from referee.service.scoreboard.publisher import Publisher
from referee.service.scoreboard.team_sessions import TeamSessions
from referee.web.scoreboard.app import Show, scoreboard_app
from referee.web.scoreboard.streams import Streams

NOW = datetime(2026, 6, 7, 12, tzinfo=UTC)


def line(kind, own, data, token="1.0.00000000"):
    """Return a line of a feed."""
    return json.dumps({"type": kind, "id": own, "data": data, "token": token}) + "\n"


def judged(score=1.0, verdict="VALID", **more):
    """Return a judgement as the feed tells it."""
    return {"judgement_type_id": verdict, "score": score, "mean_ap": 0.1, "energy_wh": 0.1} | more


def feed(teams=(), station=None, track="network", duration="0:10:00.000", **state):
    """Return a feed: `teams` has name, and the judgements of its sessions, numbered from 1.

    None as a judgement is a session that runs, and "void" one that was made void.
    """
    lines = [
        line("contest", "contest", {"name": "LPIRC", "duration": duration, "station": station}),
        line("problems", track, {"test_data_count": 8}),
        line("state", None, state),
    ]
    number = 0
    for own, (name, results) in enumerate(teams, 1):
        lines.append(line("teams", str(own), {"name": name, "withdrawn": False}))
        for result in results:
            number += 1
            played = {"team_id": str(own), "time": "2026-06-07T12:00:00Z"}
            if result is not None:
                played["end_time"] = "2026-06-07T12:10:00Z"
            void = result == "void"
            lines.append(line("submissions", str(number), None if void else played))
            if result is not None:
                lines.append(line("judgements", str(number), None if void else result))
    return "".join(lines)


def followed(name, text, heard=NOW, fault=""):
    """Return a station that has told these lines."""
    known = after(StationState(), read_notifications(text.encode()))
    return Followed(StationAddress(name, f"http://{name}"), SavedState(known, heard, heard), fault)


@contextmanager
def answering(reply, context=None):
    """Run a server that hands each connection to `reply`; yield its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    ended = threading.Event()

    def run():
        while not ended.is_set():
            try:
                link, _ = listener.accept()
                if ended.is_set():
                    link.close()
                    return
                with link if context is None else context.wrap_socket(link, True) as speaking:
                    reply(speaking)
            except OSError:
                continue

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield f"http{'' if context is None else 's'}://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        ended.set()
        with socket.create_connection(listener.getsockname()):
            pass
        thread.join(180)
        listener.close()


class ServedEvent:
    """A scoreboard of an event on a port that stays, also while nothing answers there."""

    def __init__(self, contest):
        self._server = None
        self.port = 0
        self.asked = []
        self.plug(contest)

    @property
    def url(self):
        """Return the station's address."""
        return f"http://127.0.0.1:{self.port}"

    def plug(self, contest):
        """Serve an event, as the station's laptop does after a start."""
        self._streams = Streams(Publisher(contest), run_here)
        self._streams.start()
        app = scoreboard_app(Show(self._streams, Charts(), TeamSessions(contest), run_here))
        app.before_request(lambda: self.asked.append((request.method, request.full_path)))
        self._server = make_server("127.0.0.1", self.port, app, threaded=True)
        self.port = self._server.port
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def unplug(self):
        """Let nothing answer at the station's address."""
        if self._server is not None:
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()
            self._streams.close()
            self._server = None
