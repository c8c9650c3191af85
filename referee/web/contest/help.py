# SPDX-License-Identifier: Apache-2.0
"""The text of `/help`: the routes and limits of the server, with curl lines to copy."""

from __future__ import annotations

from collections.abc import Mapping

from referee.core.states import LATE_S
from referee.formats.answer_formats import FORMATS, any_of
from referee.formats.answers import MAX_ROWS
from referee.formats.image_numbers import ARCHIVE_SIZE
from referee.service.entry.answers import MAX_DETECTIONS
from referee.service.setup.contest import Contest
from referee.service.setup.extra import present_extras
from referee.service.setup.pages import page
from referee.tracks.track import Delivery
from referee.web.server.bodies import COMING_BYTES, MAX_BODY_BYTES
from referee.web.server.connection import HEAD_S
from referee.web.server.connection_limiter import MOST_OF_ADDRESS

# The help shows this many classes. /classes lists all of them.
_CLASSES_SHOWN = 3


def help_text(contest: Contest, base: str) -> str:
    """Return the help for the contestants of a contest; `base` is the server's URL in it."""
    text = page(
        "web/contest/help.txt",
        shown=contest.track.delivery is Delivery.SHOWN,
        images=contest.image_count,
        archive=ARCHIVE_SIZE,
        dwell_ms=contest.config.camera.dwell_ms,
        formats=FORMATS,
        formats_words=any_of(*(one.words for one in FORMATS), last="and"),
        classes=contest.classes,
        class_list=_class_list(contest.classes),
        seconds=contest.config.contest.seconds,
        late_s=LATE_S,
        body_mib=MAX_BODY_BYTES // 2**20,
        rows=MAX_ROWS,
        most=MAX_DETECTIONS,
        coming_mib=COMING_BYTES // 2**20,
        connections=MOST_OF_ADDRESS,
        head_s=HEAD_S,
        one_device=contest.config.contest.refuses_second_address,
        tls=contest.config.server.contest_tls is not None,
        base=base,
    )
    guests = present_extras(contest.config)
    return "".join([text, *(extra.help(contest.config, base) for extra in guests)])


def _class_list(classes: Mapping[int, str]) -> str:
    """Return the first ids and names, and a hint to the others."""
    named = [f"{number} {name}" for number, name in classes.items()]
    shown = ", ".join(named[:_CLASSES_SHOWN])
    return shown if len(named) <= _CLASSES_SHOWN else f"{shown} ... (see /classes)"
