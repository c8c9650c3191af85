# SPDX-License-Identifier: Apache-2.0
"""A contest server's application on a fake clock, with a control desk behind it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from referee.core.blocking import run_here
from referee.service.desk.control_desk import ControlDesk
from referee.service.desk.requests import serve_request
from referee.service.entry.admission import Admission, SessionCache
from referee.service.entry.answers import Answers
from referee.service.entry.devices import OneDevice
from referee.service.entry.request_log import RequestLog
from referee.service.setup.contest import Contest
from referee.service.setup.extra import present_extras
from referee.store.journal import Journal
from referee.web.contest import sessions
from referee.web.contest.app import contest_app
from referee.web.contest.services import ContestServices
from tests.support.contests import make_contest, write_images
from tests.support.fakes import FakeClock, running_desk
from tests.support.running import PATIENCE_S

# More than one download of a hundred.
IMAGES = 120


class DirectDesk:
    """A desk in this process: requests go straight to its handler, without the socket."""

    def __init__(self, desk: ControlDesk) -> None:
        self._desk = desk

    def ask(self, action: str, **arguments: object) -> dict[str, object]:
        """Return the desk's answer."""
        return dict(serve_request(self._desk, {"action": action, **arguments}))


@dataclass(frozen=True)
class Site:
    """The server as a contestant sees it, with the contest and the desk behind it."""

    client: FlaskClient
    contest: Contest
    desk: ControlDesk
    clock: FakeClock

    def login(self, **headers: str) -> str:
        """Log in and return the token."""
        answer = self.client.post(
            "/login", data={"username": "me", "password": "practice"}, headers=headers
        )
        assert answer.status_code == 200
        return answer.get_data(as_text=True)


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of images, which hundreds of rehearsals link."""
    folder = tmp_path_factory.mktemp("pictures")
    write_images(folder, [f"{number}.jpg" for number in range(1, IMAGES + 1)])
    return folder


@pytest.fixture
def site(tmp_path: Path, pictures: Path) -> Iterator[Site]:
    """Return a rehearsal of 120 images and 600 s without a meter."""
    setting = {"mode": "practice", "seconds": 600}
    contest = make_contest(tmp_path, FakeClock(), images=IMAGES, linked=pictures, **setting)
    with serving(contest) as site:
        yield site


@contextmanager
def serving(contest: Contest) -> Iterator[Site]:
    """Serve a contest without a meter, and close it at the end.

    A status waits until it counts every request, however busy the machine is.
    """
    journal = Journal(contest.database)
    with pytest.MonkeyPatch.context() as patch, running_desk(contest, None) as desk:
        patch.setattr(sessions, "_CATCH_UP_S", PATIENCE_S)
        cache = SessionCache(contest.database)
        services = ContestServices(
            contest,
            Admission(contest, cache, DirectDesk(desk), OneDevice(contest, journal)),
            Answers(contest, cache, journal),
            RequestLog(contest, journal),
            run_here,
        )
        app = contest_app(services)
        for extra in present_extras(contest.config):
            extra.add_contest_routes(app, services, journal, lambda threads: run_here)
        yield Site(app.test_client(), contest, desk, contest.clock)
        journal.close()
    contest.database.close()
