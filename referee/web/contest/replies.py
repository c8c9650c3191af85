# SPDX-License-Identifier: Apache-2.0
"""The reading of contestants' requests and the wording of answers, for old and new clients."""

from __future__ import annotations

import json
import logging
from collections.abc import Container, Mapping, Sequence
from http import HTTPStatus

from flask import Request, Response, request

from referee.core.instant import Instant
from referee.errors import Refusal, Unavailable
from referee.formats.answer_formats import (
    JSON,
    AnswerFormat,
    all_formats,
    any_of,
    format_by_looks,
    format_of_type,
)
from referee.formats.answers import MAX_ROWS, refused
from referee.formats.forms import has_answer_list, parse_multipart, parse_urlencoded
from referee.formats.unused_fields import UnusedParts
from referee.service.entry.request_state import RequestState
from referee.web.contest.legacy import (
    NEWER,
    OLD_ROUTES,
    OLD_TYPE,
    PLAIN_TYPE,
    status_and_text,
)
from referee.web.server.bodies import has_body

_log = logging.getLogger(__name__)

MULTIPART = "multipart/form-data"
FORM_TYPES = ("application/x-www-form-urlencoded", MULTIPART, "")
_URLENCODED = FORM_TYPES[0]

# The beginning of a body that shows what it is.
_LOOK_BYTES = 1000

# What somebody should know whose lines have come as one.
_LINE_ENDS = " With curl give --data-binary @FILE: -d @FILE drops line ends."

_MAX_FIELDS = 7 * MAX_ROWS + 100
"""The most fields of a form: seven lists of the longest answer, and a hundred other fields."""


class ContestRequest(Request):
    """A contestant's request, and what its steps tell one another."""

    state: RequestState


def begin_request(received: Instant) -> tuple[Request, RequestState]:
    """Return the present request with its new state, which `current` returns from now on."""
    asked = _without_proxy()
    asked.state = RequestState(received, is_json=asked.mimetype == "application/json")
    return asked, asked.state


def current() -> tuple[Request, RequestState]:
    """Return the present request and its state without Flask's proxies.

    Each use of a proxy costs a microsecond, and a request would use them dozens of times.
    """
    asked = _without_proxy()
    return asked, asked.state


def current_state() -> RequestState:
    """Return the state of the present request."""
    return _without_proxy().state


def _without_proxy() -> ContestRequest:
    real: ContestRequest = request._get_current_object()  # type: ignore[attr-defined]
    return real


def form_of(
    request: Request, body: bytes, names: Container[str], unused: UnusedParts | None = None
) -> Mapping[str, Sequence[str]]:
    """Return the fields of a form body that have one of these names; `unused` gets the others.

    A body without a content type counts as a form. An empty body, or a body of another type, has no
    fields. Raises `Refusal`: code `body_too_large` for more fields than any answer has, and
    `form_invalid` for a malformed multipart form.
    """
    if not body:
        return {}
    kind = request.mimetype
    if kind not in FORM_TYPES:
        return {}
    if kind == MULTIPART:
        return _multipart(request, body, names, unused)
    if body.count(b"&") >= _MAX_FIELDS:
        raise _too_many_fields()
    return parse_urlencoded(body, names, MAX_ROWS, unused)


def _multipart(
    request: Request, body: bytes, names: Container[str], unused: UnusedParts | None
) -> Mapping[str, Sequence[str]]:
    boundary = request.mimetype_params.get("boundary", "")
    if not boundary:
        raise Refusal(
            "form_invalid",
            "Nothing was stored: the Content-Type of the multipart form names no boundary; leave "
            "this header to the library that makes the form.",
        )
    if body.count(b"--" + boundary.encode()) > _MAX_FIELDS:
        raise _too_many_fields()
    with refused("form_invalid"):
        return parse_multipart(body, boundary, names, MAX_ROWS, unused)


def _too_many_fields() -> Refusal:
    return Refusal(
        "body_too_large",
        f"Nothing was stored: at most {_MAX_FIELDS} form fields are taken; send it in several "
        "posts.",
    )


def field_of(request: Request, name: str) -> str | None:
    """Return one field's first value from the form body, or for GET from the query string."""
    values = current_state().form.get(name)
    if values:
        return str(values[0])
    return request.args.get(name) if request.method in ("GET", "HEAD") else None


def token_of(request: Request, posted: str | None = None) -> str | None:
    """Return the token from the Authorization header, the form, or the query string.

    `posted` is the form's token if the form has not been parsed yet.
    """
    kind, _, value = request.environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    if kind.lower() == "bearer" and value:
        return str(value.strip())
    values = current_state().form.get("token") if posted is None else (posted,)
    return str(values[0]) if values else request.args.get("token")


def require_token(request: Request, posted: str | None = None) -> str:
    """Return the token as `token_of` does; raise `Refusal` (code `token_missing`) without one."""
    token = token_of(request, posted)
    if token is None:
        raise Refusal(
            "token_missing",
            "There is no token: log in with POST /login and send its answer as 'Authorization: "
            "Bearer TOKEN' or as the form field 'token'." + no_form(request),
        )
    return token


def no_form(request: Request) -> str:
    """Return a sentence about a body in which no field is looked for, or an empty text."""
    kind = request.mimetype
    if kind in FORM_TYPES or not has_body(request):
        return ""
    return (
        f" The body's Content-Type is '{kind[:60]}': fields are read only of a form, whose type is "
        f"{_URLENCODED}."
    )


def answer_format_of(request: Request, content: bytes) -> AnswerFormat | None:
    """Return the format, or None for a form; a body without a content type counts as a form.

    Raises `Refusal` (code `media_type_unknown`) for another type. Raises it also for another format
    that is sent as a form, and for a compressed body: as forms these have no fields, and nothing
    would be stored.
    """
    coding = _coding_of(request)
    if coding is not None:
        raise Refusal(
            "media_type_unknown",
            f"Nothing was stored: the body is said to be in '{coding[:60]}'; send it as it is, "
            "without compression.",
        )
    kind = request.mimetype
    if kind not in FORM_TYPES:
        answer_format = format_of_type(kind)
        if answer_format is None:
            raise Refusal(
                "media_type_unknown",
                f"Nothing was stored: Content-Type '{kind[:60]}' is not understood; send "
                f"{any_of('a form', *(one.media_type for one in all_formats()))}."
                + looks_like(content),
            )
        return answer_format
    if kind != MULTIPART and _is_multipart(content):
        raise Refusal(
            "media_type_unknown",
            f"Nothing was stored: the body is a multipart form and its Content-Type is "
            f"'{kind or 'missing'}'; leave this header to the library that makes the form.",
        )
    if kind != MULTIPART and _is_packed(content):
        raise Refusal(
            "media_type_unknown",
            "Nothing was stored: the body is packed by gzip; send it as it is, not compressed.",
        )
    other = None if kind == MULTIPART else format_by_looks(content)
    if other is not None:
        raise Refusal(
            "media_type_unknown",
            f"Nothing was stored: the body is {other.title} and its Content-Type is "
            f"'{kind or 'missing'}'; send it with 'Content-Type: {other.media_type}'."
            + ("" if b"\n" in content or other is JSON else _LINE_ENDS),
        )
    return None


def looks_like(content: bytes, said: AnswerFormat | None = None) -> str:
    """Return a sentence about a body that seems to be no `said`, but something else that is taken.

    It is empty where the body seems to be nothing that is known.
    """
    beginning = content[:_LOOK_BYTES].lstrip()
    if _is_multipart(content):
        return " The body is a multipart form: leave its Content-Type to the library that makes it."
    if _is_packed(content):
        return " The body is packed by gzip: send it as it is, without compression."
    if beginning.startswith(b"[object "):
        return " JavaScript has made this text of an object: send JSON.stringify of the list."
    if has_answer_list(beginning, multipart=False):
        return f" The body looks like a form: send 'Content-Type: {_URLENCODED}'."
    other = format_by_looks(content)
    # One object is neither a list of results nor, where its line has no end, JSON lines.
    one_object = said is not None and other is JSON and beginning[:1] == b"{"
    if other is None or other is said or one_object:
        return ""
    return f" The body looks like {other.title}: send 'Content-Type: {other.media_type}'."


def _is_packed(content: bytes) -> bool:
    return content[:2] == b"\x1f\x8b"


def _is_multipart(content: bytes) -> bool:
    return content[:2] == b"--" and b"form-data" in content[:_LOOK_BYTES]


def _coding_of(request: Request) -> str | None:
    """Return the compression that a request names for its body, or None."""
    environ = request.environ
    coding = environ.get("HTTP_CONTENT_ENCODING", "").strip().lower()
    if coding not in ("", "identity"):
        return str(coding)
    transfer = environ.get("HTTP_TRANSFER_ENCODING", "").strip().lower()
    return None if transfer in ("", "chunked", "identity") else str(transfer)


def wants_json(request: Request) -> bool:
    """Tell whether the client asked for a JSON answer."""
    if "json" not in request.environ.get("HTTP_ACCEPT", ""):
        return False
    accept = request.accept_mimetypes
    return any(kind in ("application/json", "application/problem+json") for kind, _ in accept)


def problem(request: Request, refusal: Refusal, status: int | None = None) -> Response:
    """Return the answer to a refusal: the old referee's text, or problem details in JSON.

    The status is the old referee's, unless `status` is given. The header `X-Referee-Detail` has
    the refusal's sentence, which says what to do.
    """
    usual, text = status_and_text(refusal.code)
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
    elif text is not None and refusal.code not in NEWER:
        response = old_text(request, text, status)
    else:
        response = Response(text or sentence + "\n", status, content_type=PLAIN_TYPE)
    response.headers["X-Referee-Detail"] = printable(sentence)
    return response


def old_text(request: Request, text: str, status: int = 200) -> Response:
    """Return the count or a refusal of the old referee, for an old client under the type it knows.

    The old referee knew neither `Authorization` nor fields in the address.
    """
    environ = request.environ
    is_old = (
        request.path in OLD_ROUTES
        and not environ.get("QUERY_STRING")
        and "HTTP_AUTHORIZATION" not in environ
    )
    return Response(text, status, content_type=OLD_TYPE if is_old else PLAIN_TYPE)


def printable(sentence: str) -> str:
    """Return the sentence for an HTTP header: printable ASCII, with '?' for other characters."""
    if sentence.isascii() and sentence.isprintable():
        return sentence
    text = sentence.encode("ascii", "replace").decode("ascii")
    return "".join(character if character.isprintable() else "?" for character in text)


def could_not(request: Request, error: Unavailable) -> Response:
    """Answer that the meter, the desk or the disk failed."""
    _log.error("%s %s: %s", request.method, request.path, error)
    return problem(request, Refusal("not_stored", f"The referee could not do it: {error}"))


def failed(request: Request, error: Exception) -> Response:
    """Answer that the referee itself failed, and log the error."""
    _log.exception("%s %s failed", request.method, request.path, exc_info=error)
    return problem(
        request,
        Refusal("not_stored", "The referee failed to do it; the operator's log says why."),
    )
