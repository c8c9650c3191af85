# SPDX-License-Identifier: Apache-2.0
"""The console of an event with its people, and browsers before it."""

from __future__ import annotations

from referee.service.board.board import Board
from referee.service.board.lane_view import ShownLane
from referee.service.people.operators import add_operator
from referee.web.desk.broadcast import Broadcast
from referee.web.desk.console import console_app

AWAY = {"REMOTE_ADDR": "192.0.2.9"}


class Door:
    """A console with an operator 'Kim' and an assistant 'Sam'; `secrets` has their passwords."""

    def __init__(self, event):
        self.event, self.contest = event, event.contest
        self.board = Board(event.contest, [ShownLane(lambda: event.desk.lanes[0].metering.status)])
        self.broadcast = Broadcast(self.board.show, 2)
        self.app = self.make_app()
        self.secrets = {}

    def make_app(self):
        """Return the application of another desk on the same folder."""
        return console_app(self.contest, self.event.desk, self.board, self.broadcast)

    def register(self, name, role):
        """Register somebody by the command line's use case."""
        _, self.secrets[name] = add_operator(self.contest, name, role, "boss")

    def visitor(self, name=None, **environ):
        """Return a browser, logged in under a name."""
        client = self.app.test_client()
        client.environ_base |= environ
        if name is not None:
            assert 200 == self.log_in(client, name).status_code
        return client

    def log_in(self, client, name, password=None):
        """Post name and password as the page does."""
        body = {"name": name, "password": password or self.secrets[name]}
        return post(client, "/login", **body)


def post(client, path, **body):
    """Send a change as a page sends it."""
    key = client.get("/form-key").get_json()["key"]
    return client.post(path, json=body, headers={"X-Form-Key": key})
