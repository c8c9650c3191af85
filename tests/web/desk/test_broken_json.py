# SPDX-License-Identifier: Apache-2.0
"""A body that is no JSON object is a 400 with a sentence on every route, and changes nothing."""

from __future__ import annotations

import itertools

import pytest

from referee.web.desk.roles import ROUTES
from tests.web.desk.test_role_by_route import paths

JSON = "application/json"
BROKEN = {
    "cut": (b'{"reason": "x"', JSON),
    "no quotes": (b"{reason: x}", JSON),
    "text": (b"reason", JSON),
    "list": (b'[{"reason": "x"}]', JSON),
    "null": (b"null", JSON),
    "number": (b"1", JSON),
    "NaN": (b'{"minutes": NaN}', JSON),
    "infinite": (b'{"minutes": 1e999}', JSON),
    "long number": (b'{"minutes": ' + 5000 * b"9" + b"}", JSON),
    "deep": (b'{"a": ' + 8000 * b"[", JSON),
    "latin-1": ('{"reason": "M\u00fcller"}'.encode("latin-1"), JSON),
    "utf-16": ('{"reason": "x"}'.encode("utf-16"), JSON),
    "other charset": ('{"reason": "x"}'.encode("utf-16-le"), JSON + "; charset=utf-16"),
    "form": (b"reason=x", "application/x-www-form-urlencoded"),
    "plain": (b'{"reason": "x"}', "text/plain"),
    "no type": (b'{"reason": "x"}', None),
}
POSTS = [
    path
    for route in ROUTES
    if route.startswith("POST /") and not route.startswith("POST /display/")
    for path in paths(route.partition(" ")[2])
]
FIELDS = (
    "operator team lane seen_counted alarms on seen_state reason seconds seen_length_s "
    "organisation prizes sessions seed teams new_name once wifi_name wifi_password session "
    "group item text level names minutes name password ground_truth blacklist truth"
).split()
VALUES = (None, True, 10**30, "\ud800", [[]], {"a": []})
FIT = {"operator": "Kim", "team": "ants", "lane": 1, "reason": "x", "teams": ["ants"]}


def sent(client, path, body, kind):
    """Return the answer to a body under the page's key."""
    key = client.get("/form-key").get_json()["key"]
    return client.post(path, data=body, content_type=kind, headers={"X-Form-Key": key})


@pytest.mark.parametrize("what", BROKEN)
def test_every_route_says_what_is_wrong_with_a_broken_body(empty, what):
    """The status is 400 and the text a sentence; a login of a foreign program stays a 404."""
    body, kind = BROKEN[what]
    client, wrong = empty.visitor(), []
    for path in POSTS:
        answer = sent(client, path, body, kind)
        if path == "/login" and not (kind or "").startswith(JSON):
            continue
        told = answer.get_json(silent=True) or {}
        if answer.status_code != 400 or not told.get("text", "").endswith("."):
            wrong.append((path, answer.status_code, told))
    assert [] == wrong


@pytest.mark.slow
def test_no_field_of_a_wrong_type_breaks_a_route(empty):
    """Each field of each route, with a value of each type, gets an answer below 500."""
    client, wrong = empty.visitor(), []
    key = {"X-Form-Key": client.get("/form-key").get_json()["key"]}
    for path, value in itertools.product(POSTS, VALUES):
        alone = [FIT | {field: value} for field in FIELDS] if value == [[]] else []
        for body in (dict.fromkeys(FIELDS, value), FIT | {"team": value}, *alone):
            answer = client.post(path, json=body, headers=key)
            if answer.status_code >= 500 and answer.status_code != 503:
                wrong.append((path, body, answer.status_code))
    assert [] == wrong
