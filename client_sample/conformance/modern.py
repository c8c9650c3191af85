# SPDX-License-Identifier: Apache-2.0
"""The rules that only new clients need; the docstring of each is its name."""

from __future__ import annotations

import json
from typing import Any, Sequence

from client_sample.conformance.http import BrokenRule, HttpAnswer, Server, demand
from client_sample.conformance.rules import BOX, Rule

RECEIPT = {"answer", "stored", "flagged", "received_s", "remaining_seconds", "late"}
STATUS = {"state", "remaining_seconds", "images", "images_fetched", "answers", "detections"}


def token_in_header_and_query(server: Server) -> None:
    """the token may stand in 'Authorization: Bearer' and in the query"""
    demand(server.ask("GET", "/verify", bearer=True), 200, b"Valid Token\n")
    demand(server.ask("GET", f"/verify?token={server.token}"), 200, b"Valid Token\n")


def image_by_path(server: Server) -> None:
    """GET /image/1 and GET /image?image_name=1 send the same image, never stored by a cache"""
    one = server.ask("GET", "/image/1", bearer=True)
    two = server.ask("GET", "/image?image_name=1", bearer=True)
    demand(one, 200)
    demand(two, 200, one.body)
    if one.headers.get("cache-control") != "no-store":
        raise BrokenRule(f"Cache-Control is {one.headers.get('cache-control')!r}")


def count_and_status_by_both_methods(server: Server) -> None:
    """/no_of_images and /status answer GET and POST; the count is plain text"""
    for method in ("GET", "POST"):
        count = server.ask(method, "/no_of_images", bearer=True)
        demand(count, 200, str(server.images).encode())
        if not count.headers.get("content-type", "").startswith("text/plain"):
            raise BrokenRule(f"the count's Content-Type is {count.headers.get('content-type')!r}")
        demand(server.ask(method, "/status", bearer=True), 200)


def no_page_in_html(server: Server) -> None:
    """404, 405 and a missing token are answered by a line of text that X-Referee-Detail repeats"""
    for method, path in (("GET", "/nowhere"), ("GET", "/result"), ("POST", "/image")):
        answer = server.ask(method, path)
        kind = answer.headers.get("content-type", "")
        if not kind.startswith("text/plain") or answer.body.lstrip().startswith(b"<"):
            raise BrokenRule(f"{method} {path} is answered by {kind!r}")
        if not answer.headers.get("x-referee-detail"):
            raise BrokenRule(f"{method} {path} has no X-Referee-Detail")


def nothing_is_lost_unseen(server: Server) -> None:
    """a form of which nothing would be used is 406, and X-Referee-Detail names its fields"""
    for fields in ({"image_name[]": "1"}, {"Image_Name": "1"}, {"results": "[{}]"}):
        answer = server.post("/result", **fields)
        demand(answer, 406, b"Result field length mismatch\n")
        if next(iter(fields)) not in answer.headers.get("x-referee-detail", ""):
            raise BrokenRule(f"X-Referee-Detail is {answer.headers.get('x-referee-detail')!r}")


def lost_confidences_are_told(server: Server) -> None:
    """a form without confidence is taken, and X-Referee-Detail says so"""
    box = {name: value for name, value in BOX.items() if name != "confidence"}
    answer = server.post("/result", image_name="1", **box)
    demand(answer, 200)
    if "confidence" not in answer.headers.get("x-referee-detail", ""):
        raise BrokenRule(f"X-Referee-Detail is {answer.headers.get('x-referee-detail')!r}")


def login_as_json(server: Server) -> None:
    """a login that accepts JSON tells token, session, images, seconds and remaining_seconds"""
    fields = {"username": server.user, "password": server.password}
    answer = server.ask("POST", "/login", fields, Accept="application/json")
    _require(_object(answer, 200), {"token", "session", "images", "seconds", "remaining_seconds"})


def answers_as_json(server: Server) -> None:
    """COCO results are taken, with a receipt that flags rows which can never match"""
    good = {"image_id": 1, "category_id": 1, "bbox": [1, 1, 9, 9], "score": 0.5}
    receipt = _object(_send(server, json.dumps([good, {**good, "image_id": 0}])), 200)
    _require(receipt, RECEIPT)
    if (
        receipt["stored"] != 2
        or receipt["late"]
        or [f["row"] for f in receipt["flagged"]][-1:] != [2]
    ):
        raise BrokenRule(f"the receipt is {receipt}")


def answers_as_csv(server: Server) -> None:
    """CSV is taken, with and without confidences"""
    for line in ("1 1 0.5 1 1 9 9", "1,1,1,1,9,9"):
        receipt = _object(_send(server, line, "text/csv"), 200)
        if receipt.get("stored") != 1:
            raise BrokenRule(f"the receipt is {receipt}")


def types_have_several_names(server: Server) -> None:
    """JSON lines and JSON are taken under each of their usual types"""
    one = json.dumps({"image_id": 1, "category_id": 1, "bbox": [1, 1, 9, 9], "score": 0.5})
    for kind in ("application/x-ndjson", "application/ndjson", "application/jsonl"):
        demand(_send(server, one + "\n", kind), 200)
    demand(_send(server, f"[{one}]", "text/json"), 200)


def nothing_stored_is_told(server: Server) -> None:
    """a receipt of no rows says why"""
    receipt = _object(_send(server, "[]"), 200)
    if receipt.get("stored") != 0 or not receipt.get("remarks"):
        raise BrokenRule(f"the receipt is {receipt}")


def faults_are_named(server: Server) -> None:
    """a faulty post is refused whole, with problem details that name the faults"""
    problem = _object(_send(server, "[{}]"), 400)
    _require(problem, {"title", "status", "detail", "code", "faults"})


def status_counts(server: Server) -> None:
    """/status tells what was counted, in JSON"""
    _require(_object(server.ask("GET", "/status", bearer=True), 200), STATUS)


def openapi_is_served(server: Server) -> None:
    """/openapi.json describes the server"""
    document = _object(server.ask("GET", "/openapi.json"), 200)
    if not str(document.get("openapi", "")).startswith("3."):
        raise BrokenRule("it is no OpenAPI 3 document")


def _send(server: Server, body: str, kind: str = "application/json") -> HttpAnswer:
    return server.ask(
        "POST", "/result", body=body, kind=kind, bearer=True, Accept="application/json"
    )


def _object(answer: HttpAnswer, status: int) -> dict[str, Any]:
    demand(answer, status)
    try:
        document = json.loads(answer.body)
    except ValueError:
        raise BrokenRule(f"{answer.body[:60]!r} is not JSON") from None
    if not isinstance(document, dict):
        raise BrokenRule(f"{answer.body[:60]!r} is not an object")
    return document


def _require(document: dict[str, object], names: set[str]) -> None:
    missing = names - document.keys()
    if missing:
        raise BrokenRule(f"{', '.join(sorted(missing))} missing")


MODERN: Sequence[Rule] = (
    token_in_header_and_query,
    image_by_path,
    count_and_status_by_both_methods,
    no_page_in_html,
    login_as_json,
    nothing_is_lost_unseen,
    lost_confidences_are_told,
    answers_as_json,
    answers_as_csv,
    types_have_several_names,
    nothing_stored_is_told,
    faults_are_named,
    status_counts,
    openapi_is_served,
)
