# SPDX-License-Identifier: Apache-2.0
"""Read contestants' requests and word the answers, for old clients and for new ones."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus

from flask import Request, Response, g

from referee.core.answers import MAX_ROWS
from referee.core.forms import parse_urlencoded
from referee.errors import Refusal
from referee.store.answers import AnswerForm
from referee.web.legacy import ANSWERS

__all__ = [
    "MAX_BODY_BYTES",
    "MAX_FORM_PARTS",
    "field_of",
    "form_of",
    "media_type_of",
    "problem",
    "read_body",
    "require_token",
    "token_of",
    "wants_json",
]

MAX_BODY_BYTES = 32 * 1024 * 1024
"""Longest body that is read: about 300,000 boxes as a form, six times an honest maximum."""

MAX_FORM_PARTS = 7 * MAX_ROWS

_FORM_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data")
_HTML_400 = (
    "<!doctype html>\n<html lang=en>\n<title>400 Bad Request</title>\n"
    "<h1>Bad Request</h1>\n<p>{}</p>\n"
)


def read_body(request: Request) -> None:
    """Read the whole body, so that its last byte has arrived before the time is taken.

    Raises `Refusal` (`body_too_large`, `body_truncated`, `body_too_slow`).
    """
    length = request.content_length
    if not length and "HTTP_TRANSFER_ENCODING" not in request.environ:
        return  # Neither a length nor chunks: there is no body.
    if length is not None and length > MAX_BODY_BYTES:
        raise Refusal(
            "body_too_large",
            f"Nothing was stored: the body has {length} bytes and at most {MAX_BODY_BYTES} are "
            "taken; send it in several posts.",
        )
    try:
        body = request.get_data(cache=True)
    except (BlockingIOError, TimeoutError):
        raise Refusal(
            "body_too_slow", "Nothing was stored: the rest of the body did not come."
        ) from None
    if length is not None and len(body) < length:
        raise Refusal(
            "body_truncated",
            f"Nothing was stored: {len(body)} of {length} bytes came; is Content-Length right?",
        )


def form_of(request: Request) -> Mapping[str, Sequence[str]]:
    """Return the fields of the form body by name; a body without a type is taken for a form.

    Any other body, and none, has no fields.
    """
    kind = request.mimetype
    if kind == "multipart/form-data":
        return request.form.to_dict(flat=False)
    if kind in ("application/x-www-form-urlencoded", "") and request.content_length != 0:
        return parse_urlencoded(request.get_data())
    return {}


def field_of(request: Request, name: str) -> str | None:
    """Return a single field: the first in the form body, else, for GET, in the query string."""
    values = g.form.get(name)
    if values:
        return str(values[0])
    return request.args.get(name) if request.method in ("GET", "HEAD") else None


def token_of(request: Request) -> str | None:
    """Return the token from the Authorization header, the form, or the query string."""
    kind, _, value = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() == "bearer" and value:
        return value.strip()
    values = g.form.get("token")
    return str(values[0]) if values else request.args.get("token")


def require_token(request: Request) -> str:
    """Return the token; raises `Refusal` with code `token_missing`."""
    token = token_of(request)
    if token is None:
        raise Refusal(
            "token_missing",
            "There is no token: log in with POST /login and send its answer as 'Authorization: "
            "Bearer TOKEN' or as the form field 'token'.",
        )
    return token


def media_type_of(request: Request) -> AnswerForm:
    """Return form, json or csv; a body without a type is taken for a form.

    Raises `Refusal` with code `media_type_unknown`.
    """
    kind = request.mimetype
    if kind in _FORM_TYPES or not kind:
        return "form"
    if kind == "application/json":
        return "json"
    if kind == "text/csv":
        return "csv"
    raise Refusal(
        "media_type_unknown",
        f"Nothing was stored: Content-Type '{kind[:60]}' is not understood; send a form, "
        "application/json or text/csv.",
    )


def wants_json(request: Request) -> bool:
    """Tell whether the client asked for JSON rather than text."""
    accept = request.accept_mimetypes
    return any(kind in ("application/json", "application/problem+json") for kind, _ in accept)


def problem(request: Request, refusal: Refusal, status: int | None = None) -> Response:
    """Word a refusal: the old referee's text, or problem details for a client that wants JSON.

    The status is the old referee's unless another is given. The sentence that says what to do
    also stands in the header `X-Referee-Detail`.
    """
    usual, text = ANSWERS.get(refusal.code, (400, None))
    status = status or usual
    sentence = str(refusal)
    if wants_json(request):
        # https://www.rfc-editor.org/rfc/rfc9457
        details = {
            "type": "about:blank",
            "title": HTTPStatus(status).phrase,
            "status": status,
            "detail": sentence,
            "code": refusal.code,
        }
        if refusal.faults:
            details["faults"] = list(refusal.faults)
        response = Response(json.dumps(details), status, content_type="application/problem+json")
    elif status == 400 and text is None and refusal.code.endswith("_missing"):
        response = Response(_HTML_400.format(html.escape(sentence)), status)
    else:
        response = Response(text if text is not None else sentence + "\n", status)
    response.headers["X-Referee-Detail"] = sentence.encode("ascii", "replace").decode("ascii")
    return response
