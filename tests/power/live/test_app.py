# SPDX-License-Identifier: Apache-2.0
"""The page's server, without a browser."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable

import pytest
from flask.testing import FlaskClient
from prometheus_client.parser import text_string_to_metric_families

from power.live.address import listening_socket
from power.live.app import LiveApp, PageServer, metrics_text
from power.live.feed import start_feed
from power.live.records import message_line
from power.live.run_view import RunView
from power.meter import Reading
from tests.support.fakes import eventually


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


def test_a_connection_is_known_from_its_arrival_to_its_end(view: RunView) -> None:
    """The program may not end before whoever has come has the answer, however late it is."""
    app = LiveApp(view, threading.Lock(), lambda: 4.0).flask()
    with (
        listening_socket("127.0.0.1:0") as listening,
        PageServer(app, listening.fileno()) as server,
    ):
        assert not server.is_asked()
        with socket.create_connection(listening.getsockname(), 60) as browser:
            eventually(server.is_asked)
            serving = threading.Thread(target=server.serve_forever, name="page-server")
            serving.start()
            browser.sendall(b"GET /news HTTP/1.1\r\nHost: here\r\n\r\n")
            with browser.makefile("rb") as answer:
                assert b" 200 " in answer.readline()
                answer.read()
        eventually(lambda: not server.is_asked())
        server.shutdown()
        serving.join()


def test_a_page_that_comes_at_the_end_is_answered() -> None:
    """A recording that is over before this program listens: who asked gets an answer all the same.

    The connection waits since before the program was started, as on a busy machine.
    """
    with listening_socket("127.0.0.1:0") as listening:
        with socket.create_connection(listening.getsockname(), 180) as browser:
            browser.sendall(b"GET /news HTTP/1.1\r\nHost: here\r\n\r\n")
            feed = start_feed(["--page", str(listening.fileno())], [listening.fileno()])
            feed.send(message_line("that was all"))
            feed.close()
            with browser.makefile("rb") as answer:
                # Which of the two lines the program reads first is open.
                assert b" 200 " in answer.readline()
                answer.read()
        feed.close(finish=True)


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
        "power_meter_energy_joules": 1800.0,
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
