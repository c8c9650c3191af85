# SPDX-License-Identifier: Apache-2.0
"""The route for answers: forms for old clients, other formats for new ones."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from flask import Flask, Request, Response

from referee.core.instant import Instant
from referee.core.shares import share_of
from referee.errors import Refusal
from referee.formats.answer_formats import FORM, media_type_by_looks
from referee.formats.forms import find_token, has_answer_list
from referee.formats.image_numbers import requested_image
from referee.formats.unused_fields import (
    FieldsUnused,
    UnusedField,
    UnusedParts,
    not_used,
    require_used,
)
from referee.service.entry.answers import Receipt
from referee.service.setup.contest import Contest
from referee.tracks.track import Track
from referee.web.contest import legacy
from referee.web.contest.replies import (
    FORM_TYPES,
    MULTIPART,
    answer_format_of,
    current,
    current_state,
    form_of,
    looks_like,
    printable,
    problem,
    require_token,
    token_of,
    wants_json,
)
from referee.web.contest.services import ContestServices
from referee.web.server.arrival import arrived
from referee.web.server.bodies import (
    BEGINNING_BYTES,
    COMING_BYTES,
    MAX_BODY_BYTES,
    SMALL_BODY_BYTES,
    Body,
    BodyRoom,
    has_body,
    reads_its_own_body,
)
from referee.web.server.malformed import body_comes_behind
from referee.web.server.memory import memory_trimmer

ENDPOINT = "result"
"""The name of this route."""

_FLAGS_LISTED = 1000
_TOKEN = "token"
_IMAGE = "image_name"


def register(app: Flask, services: ContestServices) -> None:
    """Add the route to the application."""

    room = BodyRoom(COMING_BYTES)
    give_back = memory_trimmer()

    @app.after_request
    def give_memory_back(response: Response) -> Response:
        # A hook, because the answer's own memory is free only now.
        if current_state().is_long:
            services.run_parsing(give_back)
        return response

    @app.route("/result", endpoint=ENDPOINT, methods=["POST"])
    @reads_its_own_body
    def result() -> Response:
        asked, state = current()
        body = Body(asked, MAX_BODY_BYTES)
        token = None
        try:
            token = _token_of_answer(asked, body)
            state.session = services.admission.answering_session(token, asked.remote_addr or "")
        except Refusal:
            body.discard(known=token is not None and services.admission.gave_out(token))
            raise
        if not has_body(asked) and body_comes_behind(asked.environ):
            raise _length_missing()
        short = _is_short(body)
        with nullcontext() if short else room.held_for(body, share_of(asked.remote_addr or "")):
            content = body.whole()
            state.received = arrived(asked.environ, services.contest.clock.now())
            short = _is_short(body)
            state.is_long = not short
            parse = partial(_parsed, services, token, asked, content, state.received)
            try:
                posted = parse() if short else services.run_parsing(parse)
            except FieldsUnused as refusal:
                state.unused = refusal.fields
                raise
        receipt = services.answers.take(
            state.session,
            posted.answer,
            received=state.received,
            answer_format=posted.format_name,
            address=asked.remote_addr or "",
            remarks=(*not_used(posted.unused), *posted.remarks),
            empty_for=posted.empty_for,
        )
        state.stored = True
        if posted.format_name != FORM or wants_json(asked):
            return _receipt(app, receipt)
        if receipt.late:
            # An old client knows only this text for a session that is over.
            text = "Too late: the answer is stored but does not count."
            return problem(asked, Refusal("token_invalid", text))
        return _stored(receipt)


@dataclass(frozen=True)
class _Posted:
    """An answer as the track has parsed it, its format, and the fields of a form of no use.

    `empty_for` are the images, by the contestant's numbers, that an answer without rows is for.
    """

    format_name: str
    answer: Sized
    unused: Sequence[UnusedField] = ()
    empty_for: Sequence[int] = ()
    remarks: tuple[str, ...] = ()


def _length_missing() -> Refusal:
    return Refusal(
        "length_missing",
        "Nothing was stored: bytes follow the head, which has neither Content-Length nor "
        "Transfer-Encoding: send Content-Length with every body.",
    )


def _is_short(body: Body) -> bool:
    """Tell whether a body is parsed at once; the length of one in chunks is known at its end."""
    return body.length is not None and body.length <= BEGINNING_BYTES


def _token_of_answer(asked: Request, body: Body) -> str:
    """Return the token; read as little of the body as possible."""
    if "HTTP_AUTHORIZATION" in asked.environ:
        token = token_of(asked)
        if token is not None:
            return token
    kind = asked.mimetype
    posted = None
    if kind in FORM_TYPES:
        posted = _posted_token(body, multipart=kind == MULTIPART)
    return require_token(asked, posted)


def _posted_token(body: Body, *, multipart: bool) -> str | None:
    """Return a form's token; read on only where the form is an answer.

    Clients of 2015-2019 send the token before the lists or behind them.
    """
    beginning = body.beginning(SMALL_BODY_BYTES)
    whole = beginning
    if len(beginning) == SMALL_BODY_BYTES:  # The last field may be cut, and so may a token.
        whole = beginning[: beginning.rfind(b"\r\n" if multipart else b"&") + 1]
    token = find_token(whole, multipart)
    if token is None:
        more = has_answer_list(beginning, multipart)
        token = find_token(body.beginning(BEGINNING_BYTES) if more else beginning, multipart)
    return token


def _parsed(
    services: ContestServices, token: str, asked: Request, content: bytes, received: Instant
) -> _Posted:
    """Return an answer as the track has parsed it."""
    try:
        return _answer(services.contest, asked, content)
    except Refusal as fault:
        if services.admission.in_time(token, received):
            raise
        # The old referee reports the end of the session before any fault of the answer.
        raise Refusal("token_invalid", f"The session is over. {fault}", fault.faults) from None


def _answer(contest: Contest, asked: Request, content: bytes) -> _Posted:
    track = contest.track
    answer_format = answer_format_of(asked, content)
    if answer_format is None:
        return _form_answer(track, asked, content)
    try:
        answer = track.parse(answer_format, content)
        return _with_images(asked, contest.image_count, _Posted(answer_format.name, answer))
    except Refusal as fault:
        if fault.code != answer_format.refusal:
            raise
        sentence = f"{fault}{looks_like(content, answer_format)}"
        raise Refusal(fault.code, sentence, fault.faults) from None


def _with_images(asked: Request, count: int, posted: _Posted) -> _Posted:
    """Return an answer with the images that the address names; one with rows names its own."""
    named = asked.args.getlist(_IMAGE)
    if not named:
        return posted
    if len(posted.answer):
        return replace(posted, remarks=(f"not used: '{_IMAGE}' of the address",))
    # A set, because one image may be named twice; an address is short, so the list is, too.
    return replace(posted, empty_for=sorted({requested_image(text, count) for text in named}))


def _form_answer(track: Track[Any], asked: Request, content: bytes) -> _Posted:
    """Return the answer of a form; raise `FieldsUnused` where something of it would be lost."""
    parts = UnusedParts()
    fields = form_of(asked, content, (*track.form_fields, _TOKEN), parts)
    sent = fields.keys() & set(track.form_fields)
    if not sent:
        for name, value in asked.args.items(multi=True):
            if name != _TOKEN:
                parts.add(name, value, is_query=True)
    unused = parts.fields(media_type_by_looks)
    if track.form_fields:
        require_used(sent, unused, track.form_fields, parts.others)
    return _Posted(FORM, track.parse_form(fields), unused)


def _stored(receipt: Receipt) -> Response:
    """Return the old text for a stored form; a header has what the text leaves out."""
    remarks = list(receipt.remarks)
    if 0 < len(receipt.flagged) < receipt.stored:
        remarks.append(f"{len(receipt.flagged)} of {receipt.stored} rows can never match")
    response = Response(legacy.RESULT_STORED)
    if remarks:
        response.headers["X-Referee-Detail"] = printable("; ".join(remarks) + ".")
    return response


def _receipt(app: Flask, receipt: Receipt) -> Response:
    listed = receipt.flagged[:_FLAGS_LISTED]
    text = app.json.dumps(
        {
            "answer": receipt.answer,
            "stored": receipt.stored,
            # People count the rows of a post from 1, and so do the refusals of a post.
            "flagged": [{"row": flag.row + 1, "reason": flag.reason} for flag in listed],
            "flagged_count": len(receipt.flagged),
            "received_s": receipt.received_s,
            "remaining_seconds": receipt.remaining_s,
            "late": receipt.late,
            "remarks": receipt.remarks,
        }
    )
    return Response(text, content_type="application/json")
