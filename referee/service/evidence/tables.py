# SPDX-License-Identifier: Apache-2.0
"""The rows of a bundle's CSV members."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from os.path import basename

from power.meter import QUALITIES
from referee.service.setup.contest import Contest
from referee.service.setup.session_images import order_of
from referee.store.answers import answer_table, contents_of
from referee.store.readings import readings_of
from referee.store.requests import Request, request_table
from referee.store.sessions import SessionRecord
from referee.store.shows import ShowRecord, shows_of

Rows = Iterator[Sequence[object]]

_ROWS_AT_ONCE = 8192

IMAGE_HEADER = ("number", "image_id", "source_id", "file", "bytes", "width", "height", "sha256")

ANSWER_HEADER = (
    *("answer", "received_s", "utc", "late", "form", "address", "detections", "flagged"),
)

REQUEST_HEADER = tuple(field.name for field in fields(Request) if field.name != "session_id")

FRAME_HEADER = tuple(field.name for field in fields(ShowRecord) if field.name != "session_id")

POWER_HEADER = (
    *("elapsed_s", "utc", "voltage_v", "current_a", "power_w", "energy_wh", "integration_s"),
    "state",
    *QUALITIES,
)
"""The header of a power log, which other programs read; new columns come last."""


def images(contest: Contest, session: SessionRecord) -> Rows:
    """Yield the images in the session's order."""
    order = order_of(contest.image_count, session.order_seed)
    for number, image_id in enumerate(order.tolist(), 1):
        e = contest.images[image_id - 1]
        name = basename(e.path)
        yield number, image_id, e.source_id, name, e.size_bytes, e.width, e.height, e.sha256


def detections(contest: Contest, session: SessionRecord, *, late: bool) -> Iterator[bytes]:
    """Yield lines in the format of a detections file; image_id is the contestant's number.

    Each block has the rows of several small answers, or of one large answer.
    """
    track = contest.track
    waiting: list[bytes] = []
    rows = 0
    connection = contest.database.connection
    for row_count, content in contents_of(connection, session.session_id, late=late):
        waiting.append(content)
        rows += row_count
        if rows >= _ROWS_AT_ONCE:
            yield track.text(track.unpack_all(waiting))
            waiting, rows = [], 0
    if rows:
        yield track.text(track.unpack_all(waiting))


def answers(contest: Contest, session: SessionRecord) -> Rows:
    """Yield a row per answer, late answers included."""
    yield from answer_table(contest.database.connection, session.session_id)


def requests(contest: Contest, session: SessionRecord) -> Rows:
    """Yield a row per request."""
    yield from request_table(contest.database.connection, session.session_id)


def frames(contest: Contest, session: SessionRecord) -> Rows:
    """Yield a row per image that the screen showed or should have shown."""
    for show in shows_of(contest.database.connection, session.session_id):
        yield [getattr(show, name) for name in FRAME_HEADER]


def power(contest: Contest, session: SessionRecord) -> Rows:
    """Yield a row per reading of the meter, in the format of a power log."""
    for elapsed_s, r in readings_of(contest.database.connection, session.session_id):
        yield (
            *(elapsed_s, r.utc.isoformat(), r.voltage_v, r.current_a, r.power_w, r.energy_wh),
            *(r.integration_s, r.state.value),
            *("nan" if name in r.absent else getattr(r, name) for name in QUALITIES),
        )
