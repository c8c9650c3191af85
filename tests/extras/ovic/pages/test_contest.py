# SPDX-License-Identifier: Apache-2.0
"""A team sends models over HTTP and follows them; every refusal is a sentence and a code."""

from __future__ import annotations

import io
from typing import Any

import pytest
from werkzeug.test import TestResponse

from referee.extras.ovic.section import models_of, ovic_of
from referee.extras.ovic.submission.entries import NewEvent, all_entries, record_entry_event
from tests.support.full_disk import FullDisk
from tests.support.ovic_contests import SCORED, UTC
from tests.web.conftest import Site

JSON = {"Accept": "application/json"}


def login(site: Site, team: str = "me") -> dict[str, str]:
    """Log a team in and return the headers of its requests."""
    answer = site.client.post("/ovic/login", data={"username": team, "password": "practice"})
    assert 200 == answer.status_code
    return {"Authorization": f"Bearer {answer.get_data(as_text=True)}"} | JSON


def submit(site: Site, headers: dict[str, str], content: bytes, query: str = "") -> TestResponse:
    """Send a model."""
    return site.client.post(f"/ovic/entries{query}", data=content, headers=headers)


def move(site: Site, entry: int, *kinds: str, **more: Any) -> None:
    """Let things happen to an entry."""
    with site.contest.database.write() as connection:
        for kind in kinds:
            figures: dict[str, Any] = {}
            if kind == "scored":
                figures = {"accuracy": 93.0, "latency_ms": 9.5, "build": "a build"}
            record_entry_event(
                connection, entry, NewEvent(kind, UTC, actor="test", **figures, **more)
            )


def test_a_login_starts_no_session(ovic_site: Site) -> None:
    """The token for models comes from the team's password alone; the clock does not start."""
    token = login(ovic_site)["Authorization"].removeprefix("Bearer ")
    answer = ovic_site.client.post(
        "/ovic/login", data={"username": "me", "password": "practice"}, headers=JSON
    )
    assert {"token": token, "team": "me"} == answer.get_json()
    count = ovic_site.contest.database.connection.execute("select count(*) from sessions")
    assert 0 == count.fetchone()[0]


@pytest.mark.parametrize(
    ("form", "status", "code"),
    [
        ({"username": "me", "password": "wrong"}, 401, "login_invalid"),
        ({"username": "me"}, 401, "username_missing"),
    ],
)
def test_a_wrong_login_is_refused(
    ovic_site: Site, form: dict[str, str], status: int, code: str
) -> None:
    """A wrong or missing password gets the usual refusals."""
    answer = ovic_site.client.post("/ovic/login", data=form, headers=JSON)
    assert (status, code) == (answer.status_code, answer.get_json()["code"])


@pytest.mark.parametrize("method", ["POST", "PUT"])
@pytest.mark.parametrize(
    "kind", ["", "application/octet-stream", "application/x-www-form-urlencoded"]
)
def test_the_file_is_the_body_whatever_its_type(ovic_site: Site, method: str, kind: str) -> None:
    """curl's --data-binary and -T both work: the body's type does not matter."""
    headers = login(ovic_site) | ({"Content-Type": kind} if kind else {})
    answer = ovic_site.client.open(
        "/ovic/entries?task=classification&name=a/b.tflite",
        method=method,
        data=b"token=x&model",
        headers=headers,
    )
    assert 201 == answer.status_code
    found = answer.get_json()
    assert ("b.tflite", 13, "received", 1, 1) == tuple(
        found[key] for key in ("file", "bytes", "state", "place", "left_today")
    )
    assert 1 == len(list(models_of(ovic_site.contest.config).glob("*.tflite")))


def test_a_form_upload_is_told_how_to_send_it(ovic_site: Site) -> None:
    """`curl -F` would put the model into a form; the refusal names the right option."""
    answer = ovic_site.client.post(
        "/ovic/entries",
        data={"model": (io.BytesIO(b"x"), "m.tflite")},
        headers=login(ovic_site),
    )
    assert (415, "media_type_unknown") == (answer.status_code, answer.get_json()["code"])
    assert "--data-binary" in answer.get_json()["detail"]


def test_limits_are_refused_in_sentences(ovic_site: Site) -> None:
    """Size, task and number of the day each have a status and a code; nothing is stored."""
    headers = login(ovic_site)
    for content, query, status, code in [
        (b"", "", 400, "model_empty"),
        (bytes((1 << 20) + 1), "", 413, "model_too_large"),
        (b"x", "?task=detection", 400, "task_unknown"),
    ]:
        answer = submit(ovic_site, headers, content, query)
        assert (status, code) == (answer.status_code, answer.get_json()["code"])
    assert 201 == submit(ovic_site, headers, bytes(1 << 20)).status_code
    assert [201, 200, 403] == [
        submit(ovic_site, headers, content).status_code for content in (b"a", b"a", b"b")
    ]
    assert 2 == len(all_entries(ovic_site.contest.database.connection))


def test_a_model_too_many_stays_not_on_the_disk(ovic_site: Site) -> None:
    """A team without entries left fills no disk: only the models of entries are kept."""
    headers = login(ovic_site)
    contents = (b"a", b"b", b"c", b"d")
    assert [201, 201, 403, 403] == [submit(ovic_site, headers, it).status_code for it in contents]
    assert 2 == len(list(models_of(ovic_site.contest.config).iterdir()))
    # What another team may still send is kept, and the known model is still the same entry.
    assert 201 == submit(ovic_site, login(ovic_site, "others"), b"c").status_code
    assert 200 == submit(ovic_site, headers, b"a").status_code
    assert 3 == len(list(models_of(ovic_site.contest.config).iterdir()))


def test_the_hint_for_a_missing_token_starts_no_session(ovic_site: Site) -> None:
    """Who forgot the token is sent to the login for models, not to the one with the clock."""
    answer = ovic_site.client.get("/ovic/entries", headers=JSON).get_json()
    assert "POST /ovic/login" in answer["detail"]


def test_a_chunked_model_is_bounded_too(ovic_site: Site) -> None:
    """A body without a length is cut off at the limit, and an honest one is taken."""
    for size, status in (((1 << 20) + 1, 413), (1000, 201)):
        answer = ovic_site.client.post(
            "/ovic/entries",
            input_stream=io.BytesIO(bytes(size)),
            environ_overrides={"wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"},
            headers=login(ovic_site),
        )
        assert status == answer.status_code
    assert 1 == len(list(models_of(ovic_site.contest.config).iterdir()))


def test_a_body_that_breaks_off_is_no_entry(ovic_site: Site) -> None:
    """Fewer bytes than announced are refused, and nothing stays on the disk."""
    answer = ovic_site.client.post(
        "/ovic/entries",
        input_stream=io.BytesIO(b"half"),
        environ_overrides={"CONTENT_LENGTH": "8"},
        headers=login(ovic_site),
    )
    assert (400, "body_truncated") == (answer.status_code, answer.get_json()["code"])
    assert [] == list(models_of(ovic_site.contest.config).iterdir())
    assert [] == all_entries(ovic_site.contest.database.connection)


def test_a_full_disk_acknowledges_nothing(ovic_site: Site) -> None:
    """A disk that takes only a part of the model answers 500, and there is no entry."""
    headers = login(ovic_site)
    disk = FullDisk()
    disk.fill(models_of(ovic_site.contest.config) / "none", room=1000)
    try:
        answer = submit(ovic_site, headers, bytes(500_000))
    finally:
        disk.free()
    assert (500, "not_stored") == (answer.status_code, answer.get_json()["code"])
    assert "Nothing was stored" in answer.get_json()["detail"]
    assert [] == list(models_of(ovic_site.contest.config).iterdir())
    assert [] == all_entries(ovic_site.contest.database.connection)
    assert 201 == submit(ovic_site, headers, bytes(500_000)).status_code


def test_strangers_see_and_send_nothing(ovic_site: Site) -> None:
    """Without a token, and with a session's token, every route but the rules is closed."""
    session = {"Authorization": f"Bearer {ovic_site.login()}"} | JSON
    for headers, code in ((JSON, "token_missing"), (session, "token_invalid")):
        for path in ("/ovic/entries", "/ovic/entries/1", "/ovic/leaderboard"):
            assert code == ovic_site.client.get(path, headers=headers).get_json()["code"]
        assert code == submit(ovic_site, headers, b"x").get_json()["code"]
    line = ovic_site.client.get("/ovic/entries").get_data(as_text=True)
    assert line.startswith("There is no token: log in with POST /ovic/login") and "<" not in line
    assert not models_of(ovic_site.contest.config).exists()
    rules = ovic_site.client.get("/ovic").get_json()
    assert (1 << 20, 2) == (rules["most_bytes"], rules["entries_a_day"])
    assert ["classification"] == [task["task"] for task in rules["tasks"]]


def test_a_team_follows_its_entry_from_state_to_state(ovic_site: Site) -> None:
    """Each state has its words: a place in the line, then a score with its parts."""
    headers = login(ovic_site)
    other = login(ovic_site, "others")
    submit(ovic_site, other, b"theirs")
    number = submit(ovic_site, headers, b"mine").get_json()["entry"]

    def look() -> dict[str, Any]:
        found: dict[str, Any] = ovic_site.client.get(
            f"/ovic/entries/{number}", headers=headers
        ).get_json()
        return found

    assert ("received", 2) == (look()["state"], look()["place"])
    move(ovic_site, number, "validating")
    assert ("validating", None) == (look()["state"], look()["place"])
    move(ovic_site, number, "waiting")
    assert ("waiting", 1) == (look()["state"], look()["place"])
    move(ovic_site, number, "measuring")
    assert "measuring" == look()["state"]
    move(ovic_site, number, "scored")
    found = look()
    assert ("scored", 93.0, 9.5, True) == tuple(
        found[key] for key in ("state", "accuracy", "latency_ms", "valid")
    )
    assert found["metric"] == pytest.approx(93.0 - found["frontier"])
    assert ("a build", [True]) == (found["build"], [it["counts"] for it in found["builds"]])
    move(ovic_site, number, "again")
    assert ("again", 1, 93.0) == tuple(look()[key] for key in ("state", "place", "accuracy"))
    move(ovic_site, number, "remeasuring", "kept")
    assert ("scored", 93.0) == (look()["state"], look()["accuracy"])
    assert list(SCORED) == [event["kind"] for event in found["events"]]
    own = ovic_site.client.get("/ovic/entries", headers=headers).get_json()
    assert [number] == [entry["entry"] for entry in own["entries"]]
    assert {"classification": 1} == own["left_today"]


@pytest.mark.parametrize("number", ["1", "9", "0", "-1", "x", "9" * 30, "١"])
def test_other_teams_entries_look_as_if_they_were_not_there(ovic_site: Site, number: str) -> None:
    """The entry of another team, a number without entry and no number get the same refusal."""
    submit(ovic_site, login(ovic_site, "others"), b"theirs")
    answer = ovic_site.client.get(f"/ovic/entries/{number}", headers=login(ovic_site))
    assert (404, "entry_unknown") == (answer.status_code, answer.get_json()["code"])


def test_teams_see_nothing_that_is_for_operators(ovic_site: Site) -> None:
    """What the referee itself found stays with the operators."""
    headers = login(ovic_site)
    number = submit(ovic_site, headers, b"mine").get_json()["entry"]
    move(ovic_site, number, "validating")
    move(ovic_site, number, "failed", text="not yours", detail={"error": "/srv/truth.json"})
    answer = ovic_site.client.get(f"/ovic/entries/{number}", headers=headers)
    assert "not yours" in answer.get_data(as_text=True)
    assert "/srv" not in answer.get_data(as_text=True)


def test_the_leaderboard_is_shown_to_teams_unless_it_is_closed(ovic_site: Site) -> None:
    """A team sees the board; with `leaderboard_for_teams = false` it gets 403."""
    headers = login(ovic_site)
    number = submit(ovic_site, headers, b"mine").get_json()["entry"]
    move(ovic_site, number, *SCORED)
    board = ovic_site.client.get("/ovic/leaderboard", headers=headers).get_json()
    assert [(1, "me")] == [(row["rank"], row["team"]) for row in board["tasks"][0]["rows"]]
    object.__setattr__(ovic_of(ovic_site.contest.config), "leaderboard_for_teams", False)
    answer = ovic_site.client.get("/ovic/leaderboard", headers=headers)
    assert (403, "leaderboard_closed") == (answer.status_code, answer.get_json()["code"])


def test_a_contest_without_ovic_serves_none_of_it(site: Site) -> None:
    """Where no task is open the routes do not exist, and the help is silent."""
    assert 404 == site.client.get("/ovic").status_code
    assert "ovic" not in site.client.get("/help").get_data(as_text=True)


def test_the_help_shows_the_routes(ovic_site: Site) -> None:
    """The help has the lines for models, with the open task."""
    text = ovic_site.client.get("/help").get_data(as_text=True)
    assert "/ovic/entries?task=classification&name=model.tflite" in text
