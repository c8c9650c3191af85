# SPDX-License-Identifier: Apache-2.0
"""The addresses for programs that watch the referee."""

from __future__ import annotations

import pytest

from tests.support.contests import no_room
from tests.support.doors import AWAY


def test_health_is_200_or_503_with_the_reasons(empty, monkeypatch):
    """A healthy referee has no reason; a disk without room is one, as in the list of obstacles."""
    watcher = empty.visitor()
    answer = watcher.get("/health")
    assert (200, True, []) == (answer.status_code, answer.json["healthy"], answer.json["obstacles"])
    no_room(monkeypatch)
    answer = watcher.get("/health")
    assert (503, False) == (answer.status_code, answer.json["healthy"])
    assert empty.event.desk.obstacles() == answer.json["obstacles"] != []


def test_an_alarm_is_not_healthy(empty):
    """What the red bar says stands in the answer."""
    empty.event.desk.logbook.alarm("the roof is open")
    empty.event.desk.logbook.flush()
    answer = empty.visitor().get("/health")
    assert (503, ["the roof is open"]) == (answer.status_code, answer.json["alarms"])


def test_metrics_follow_a_session(empty):
    """The running session's figures are those of the board, and another format has no type."""
    number = empty.event.begin("ants")
    empty.event.answer(number, [1, 2])
    answer = empty.visitor().get("/metrics")
    assert "text/plain; version=0.0.4; charset=utf-8" == answer.content_type
    lines = answer.text.splitlines()
    (found,) = [line for line in lines if line.startswith("referee_session_detections")]
    assert found.endswith(f'session="{number}",team="ants"}} 2.0')


@pytest.mark.parametrize("path", ["/health", "/metrics"])
def test_other_machines_need_a_login(door, path):
    """Programs on the laptop may ask; another machine's need an assistant's login at least."""
    assert door.visitor().get(path).status_code in (200, 503)
    assert 401 == door.visitor(**AWAY).get(path).status_code
    assert door.visitor("Sam", **AWAY).get(path).status_code in (200, 503)
