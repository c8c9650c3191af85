# SPDX-License-Identifier: Apache-2.0
"""Whatever the server does with an answer's format follows the one table of formats."""

from __future__ import annotations

from dataclasses import replace

import pytest
from werkzeug.test import TestResponse

from referee.formats.answer_formats import CSV, all_formats, has_coco_boxes
from referee.formats.answers import parse_csv
from tests.web.conftest import Site

NEW = replace(
    CSV,
    name="tab",
    title="Tables",
    words="tables of tabs",
    media_type="text/tab-separated-values",
    refusal="tab_invalid",
    coco_boxes=True,
    looks=lambda beginning: beginning.startswith(b"image\t"),
    parse=lambda body: parse_csv(body.partition(b"\n")[2]),
)


def test_everything_follows_the_table(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new entry is taken, refused, described and remarked upon without another line."""
    usual = all_formats()
    formats = (*usual, NEW)
    for module in (
        "formats.answer_formats",
        *("web.contest.replies", "web.contest.sessions", "web.contest.openapi"),
    ):
        monkeypatch.setattr(f"referee.{module}.all_formats", lambda: formats)
    with site.contest.database.write() as connection:
        connection.execute("insert into answer_formats values ('tab')")
    headers = {"Authorization": f"Bearer {site.login()}"}

    def post(kind: str) -> TestResponse:
        body = b"image\tclass\n1 1 1 1 1 9 9\n"
        return site.client.post("/result", data=body, content_type=kind, headers=headers)

    receipt = post(NEW.media_type)
    assert (200, 1) == (receipt.status_code, receipt.get_json()["stored"])
    stored = site.contest.database.connection.execute("select format from answers").fetchone()
    assert "tab" == stored[0]
    for kind, words in (
        (
            "text/plain",
            f"a form, {', '.join(it.media_type for it in usual)} or {NEW.media_type}",
        ),
        ("", "the body is Tables and its Content-Type is 'missing'; send it with 'Content-Type: "),
    ):
        refused = post(kind)
        assert 415 == refused.status_code
        assert words in refused.headers["X-Referee-Detail"]
    told = site.client.get("/help").get_data(as_text=True)
    for one in formats:
        assert (
            f"Content-Type: {one.media_type}' " in told and f"--data-binary '{one.example}'" in told
        )
    assert "and tables of tabs too" in told
    described = site.client.get("/openapi.json").get_json()["paths"]["/result"]["post"]
    bodies = described["requestBody"]["content"]
    assert NEW.schema == bodies[NEW.media_type]["schema"]
    assert {one.media_type for one in formats} < bodies.keys()
    assert {it: has_coco_boxes(it) for it in ("form", "json", "csv", "tab")} == {
        "form": False,
        "json": True,
        "csv": False,
        "tab": True,
    }


def test_each_format_is_taken_and_refused_whole(site: Site) -> None:
    """The example of each format is stored with a receipt; with one fault nothing is."""
    headers = {"Authorization": f"Bearer {site.login()}"}
    for number, one in enumerate(all_formats(), 1):
        body = one.example.encode()
        answer = site.client.post(
            "/result", data=body, content_type=one.media_type, headers=headers
        )
        assert (200, number, 1) == (
            answer.status_code,
            answer.get_json()["answer"],
            answer.get_json()["stored"],
        )
        faulty = body.replace(b"58", b"cat")
        refused = site.client.post(
            "/result", data=faulty, content_type=one.media_type, headers=headers
        )
        assert 400 == refused.status_code
        assert "Nothing was stored" in refused.headers["X-Referee-Detail"]
    rows = site.contest.database.connection.execute("select format from answers order by 1")
    assert sorted(one.name for one in all_formats()) == [row[0] for row in rows]
