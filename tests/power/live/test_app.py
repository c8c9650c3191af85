# SPDX-License-Identifier: Apache-2.0
"""The page's server, without a browser."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from flask.testing import FlaskClient
from prometheus_client.parser import text_string_to_metric_families

from power.live.app import LiveApp, metrics_text
from power.live.run_view import RunView
from power.meter import Reading


@pytest.fixture
def view(make_reading: Callable[..., Reading]) -> RunView:
    """Return a view with three readings."""
    view = RunView()
    view.begin({"log": "run.csv", "timer_s": 60, "update_interval_s": 1.0})
    for at_s in (1.0, 2.0, 3.0):
        view.add(make_reading(at_s), at_s)
    return view


@pytest.fixture
def client(view: RunView) -> FlaskClient:
    """Return a client of the application at second 4."""
    return LiveApp(view, threading.Lock(), lambda: 4.0).flask().test_client()


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html"),
        ("/static/live/live.js", "text/javascript"),
        ("/static/live/live.css", "text/css"),
        ("/static/shared/curve.js", "text/javascript"),
        ("/static/shared/base.css", "text/css"),
        ("/metrics", "text/plain"),
        ("/news", "application/json"),
    ],
)
def test_everything_comes_from_here_and_is_never_old(
    client: FlaskClient, path: str, kind: str
) -> None:
    """The page needs no other host, and no answer is kept by a browser."""
    with client.get(path) as answer:
        assert (200, kind) == (answer.status_code, answer.mimetype)
        assert "default-src 'self'" == answer.headers["Content-Security-Policy"]
        assert "no-store" == answer.headers["Cache-Control"]
        assert b"http" not in answer.data.replace(b"http://www.w3.org/2000/svg", b"")


@pytest.mark.parametrize(
    "path", ["/static/console/console.js", "/static/live/..%2f..%2fsetup.cfg", "/static/live/none"]
)
def test_no_other_file_is_served(client: FlaskClient, path: str) -> None:
    """The other pages of the project, and files outside, are not found."""
    assert 404 == client.get(path).status_code


def test_only_what_is_new_is_sent(client: FlaskClient, view: RunView) -> None:
    """A page gets the readings after the one it has; nonsense in a question counts as nothing."""
    assert [2, 3] == [one[0] for one in client.get("/news?after=1").json["samples"]]
    first = client.get(f"/news?after=3&bins=31&width={view.whole.width_s}").json
    assert ([], 30, 1) == (
        *(first["samples"], first["whole"]["first"], len(first["whole"]["bins"])),
    )
    odd = client.get("/news?after=x&bins=-9&width=nan")
    assert 3 == len(odd.json["samples"])
    assert len(view.whole) == len(odd.json["whole"]["bins"])


def test_an_answer_on_its_way_is_counted(view: RunView) -> None:
    """The program may not end before a page has the result that it has asked for."""
    app = LiveApp(view, threading.Lock(), lambda: 4.0)
    answer = app.flask().test_client().get("/news")
    assert 1 == app.answering
    answer.close()
    assert 0 == app.answering


def test_nobody_changes_a_recording_over_http(client: FlaskClient) -> None:
    """The page can only look."""
    assert {405} == {client.post(path).status_code for path in ("/", "/news", "/metrics")}


def samples(view: RunView, now_s: float) -> dict[str, float]:
    """Return the samples by name and labels."""
    families = text_string_to_metric_families(metrics_text(view, now_s).decode())
    return {
        sample.name + "".join(sample.labels.values()): sample.value
        for family in families
        for sample in family.samples
    }


def test_before_the_first_reading_nothing_is_claimed() -> None:
    """No value has a sample before it is known; the counts are 0."""
    found = samples(RunView(), 5.0)
    assert {0.0} == set(found.values())
    assert "power_meter_power_watts" not in found


def test_a_reading_has_its_figures(make_reading: Callable[..., Reading]) -> None:
    """Values, ranges, age and state are those of the newest reading."""
    view = RunView()
    view.begin({"timer_s": 60, "update_interval_s": 1.0})
    view.add(make_reading(100.0, current_a=None, energy_wh=0.25), 1.0)
    view.add(make_reading(104.0, current_a=None, energy_wh=0.5, power_w=6.5), 5.0)
    found = samples(view, 104.5)
    assert {
        "power_meter_power_watts": 6.5,
        "power_meter_energy_watt_hours": 0.5,
        "power_meter_timer_seconds": 60.0,
        "power_meter_voltage_range_volts": 150.0,
        "power_meter_reading_age_seconds": 0.5,
        "power_meter_readings_total": 2.0,
        "power_meter_gaps_total": 1.0,
        "power_meter_gap_seconds_total": 4.0,
        "power_meter_integration_stateSTART": 1.0,
        "power_meter_integration_stateTIMEUP": 0.0,
    }.items() <= found.items()
    assert "power_meter_current_amperes" not in found
