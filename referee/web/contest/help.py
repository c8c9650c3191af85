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
from referee.tracks.track import Delivery
from referee.web.server.bodies import COMING_BYTES, MAX_BODY_BYTES
from referee.web.server.connection import HEAD_S
from referee.web.server.connection_limiter import MOST_OF_ADDRESS

# The help shows this many classes. /classes lists all of them.
_CLASSES_SHOWN = 3

_TEXT = """
Valid URLs:
  GET/POST  /help           this text; needs no token and never starts the clock
  GET       /openapi.json   the same for tools
  GET       /classes        class ids and names, one a line; JSON with 'Accept: application/json'
  POST      /login          username, password -> token; starts your session and the meter
  POST      /verify         token -> Valid Token
  POST      /no_of_images   token -> number of images
{image_routes}\
  POST      /result         token, and one value a box in each of the lists image_name, CLASS_ID,
                            confidence, xmin, ymin, xmax, ymax; {formats} too
  GET       /status         token -> state, remaining seconds and counts, in JSON
  POST      /logout         token -> ends your session and the meter

The session: {seconds} s from login. {images} images, {classes} classes: {class_list}.
An answer counts when its last byte arrives before the deadline. For {late_s:.0f} s more the referee
stores answers, marks them late, and never scores them. Boxes are inclusive pixel corners of the
image as {sent}.

The token goes into the form field 'token', or 'Authorization: Bearer TOKEN', or '?token=TOKEN'.

Limits: {body_mib} MiB and {rows} boxes a post, {most} boxes a session, any number of posts.
Each server process takes {coming_mib} MiB of long posts at a time, and {connections} connections
of one address. The head of a request has {head_s:.0f} s, its body 30 s and 1 s for each
100 kB. The referee cuts off a client that takes nothing of an answer for 20 s.

{tls_line}  curl -d 'username=USER&password=PASSWORD' {base}/login
{image_lines}\
  curl -d 'token=TOKEN&image_name=1&CLASS_ID=58&confidence=0.9&xmin=10&ymin=20&xmax=110&ymax=220' \\
       {base}/result
{format_lines}\
  curl -H 'Authorization: Bearer TOKEN' {base}/status
  curl -d 'token=TOKEN' {base}/logout
"""

_FORMAT_LINES = """\
  curl -H 'Authorization: Bearer TOKEN' -H 'Content-Type: {one.media_type}' {base}/result \\
       -d '{one.example}'
"""


_FETCHED_ROUTES = """\
  GET/POST  /image          token, image_name=1..{images} -> image; also GET /image/1
  GET/POST  /zipimages      token, image_name=1, {second}, {third} ... -> zip, {archive} images
"""
_FETCHED_LINES = """\
  curl -H 'Authorization: Bearer TOKEN' -o 1.jpg {base}/image/1
  curl -d 'token=TOKEN&image_name=1' -o 1.zip {base}/zipimages
"""
_SHOWN_ROUTES = """\
  GET/POST  /image_camera   token, image_name=1..{images} -> Display success, when the screen has
                            painted the image. It stays {dwell} ms at least. Its margins hold its
                            number, its size, and the session's frame_tag, which /status tells
"""
_SHOWN_LINES = """\
  curl -d 'token=TOKEN&image_name=1' {base}/image_camera
"""


_TLS_LINE = """\
This server speaks TLS: give each curl the organiser's CA file (--cacert FILE), and never -k.

"""


def help_text(contest: Contest, base: str) -> str:
    """Return the help for the contestants of a contest; `base` is the server's URL in it."""
    shown = contest.track.delivery is Delivery.SHOWN
    routes, lines = _FETCHED_ROUTES, _FETCHED_LINES
    if shown:
        routes, lines = _SHOWN_ROUTES, _SHOWN_LINES
    text = _TEXT.format(
        image_routes=routes.format(
            images=contest.image_count,
            archive=ARCHIVE_SIZE,
            second=ARCHIVE_SIZE + 1,
            third=2 * ARCHIVE_SIZE + 1,
            dwell=contest.config.camera.dwell_ms,
        ),
        image_lines=lines.format(base=base),
        formats=any_of(*(one.words for one in FORMATS), last="and"),
        format_lines="".join(_FORMAT_LINES.format(one=one, base=base) for one in FORMATS),
        sent="stored, in its own pixels" if shown else "sent",
        images=contest.image_count,
        classes=len(contest.classes),
        class_list=_class_list(contest.classes),
        seconds=contest.config.contest.seconds,
        late_s=LATE_S,
        body_mib=MAX_BODY_BYTES // 2**20,
        rows=MAX_ROWS,
        most=MAX_DETECTIONS,
        coming_mib=COMING_BYTES // 2**20,
        connections=MOST_OF_ADDRESS,
        head_s=HEAD_S,
        base=base,
        tls_line=_TLS_LINE if contest.config.server.contest_tls else "",
    )
    guests = present_extras(contest.config)
    return "".join([text, *(extra.help(contest.config, base) for extra in guests)])


def _class_list(classes: Mapping[int, str]) -> str:
    """Return the first ids and names, and a hint to the others."""
    named = [f"{number} {name}" for number, name in classes.items()]
    shown = ", ".join(named[:_CLASSES_SHOWN])
    return shown if len(named) <= _CLASSES_SHOWN else f"{shown} ... (see /classes)"
