# SPDX-License-Identifier: Apache-2.0
"""Responses that are made when something else is done."""

from __future__ import annotations

from concurrent.futures import Future

import pytest
from flask import Flask, Response
from flask.testing import FlaskClient

from referee.web.server.awaiting import AwaitedBody, AwaitingResponse


@pytest.fixture
def outcome() -> Future[str]:
    """Return what the response of `client` waits for."""
    return Future()


@pytest.fixture
def seen() -> list[int]:
    """Return the statuses that the application has seen after the fact."""
    return []


@pytest.fixture
def client(outcome: Future[str], seen: list[int]) -> FlaskClient:
    """Return a client of an application with one route."""
    app = Flask("awaiting")

    @app.get("/")
    def wait() -> Response:
        return AwaitingResponse(outcome, lambda: Response(outcome.result(0), 202))

    @app.after_request
    def see(response: Response) -> Response:
        def note(made: Response) -> Response:
            seen.append(made.status_code)
            return made

        assert isinstance(response, AwaitingResponse)
        response.then(note)
        return response

    return app.test_client()


def test_a_server_that_knows_nothing_of_it_gets_the_response(client, outcome, seen):
    """Status, headers and body are those of the response that was made in the end."""
    outcome.set_result("done")
    response = client.get("/")
    assert (202, "done", 4) == (response.status_code, response.text, response.content_length)
    assert [202] == seen


def test_nothing_is_started_or_made_before_the_body_is_asked_for(client, outcome, seen):
    """A server may do something else until the future is done."""
    started: list[str] = []
    environ = {
        "REQUEST_METHOD": "GET",
        "PATH_INFO": "/",
        "SERVER_NAME": "x",
        "SERVER_PORT": "80",
        "wsgi.url_scheme": "http",
    }
    body = client.application(environ, lambda status, headers: started.append(status))
    assert isinstance(body, AwaitedBody)
    assert (False, [], []) == (body.future.done(), started, seen)
    outcome.set_result("done")
    assert b"done" == b"".join(body)
    assert (["202 ACCEPTED"], [202]) == (started, seen)
