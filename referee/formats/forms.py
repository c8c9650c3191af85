# SPDX-License-Identifier: Apache-2.0
"""Bodies of HTML forms, parsed fast: contestants send thousands of them, with lists of fields.

The library's parser takes three times as long for the same result. With a thousand boxes in a
post that is most of the post's time. A property test compares both.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from urllib.parse import unquote_plus

LONGEST_VALUE = 10_000
"""Characters of a form's value that are looked at; a number or a token has a few dozen."""

# A body is taken apart in pieces of about this length.
_PIECE = 256 * 1024
# Values of so many characters come again and again in a long body; so many of them are kept once.
_SHORT = 4
_SHARED = 20_000

# Two patterns: a single one that begins in either way is tried at every byte, and is far slower.
_FIRST_TOKEN = re.compile(rb"token=([^&]*)")
_LATER_TOKEN = re.compile(rb"&token=([^&]*)")
_MULTIPART_TOKEN = re.compile(
    rb'name="?token"?[ \t]*(?:;[^\r\n]*)?\r\n(?:[^\r\n]+\r\n)*\r\n([^\r\n]*)(?=\r\n|\Z)'
)


def parse_urlencoded(
    body: bytes, names: Container[str] | None = None, most: int | None = None
) -> dict[str, list[str]]:
    """Return name → values, in the order sent, of an `application/x-www-form-urlencoded` body.

    Equals `urllib.parse.parse_qsl(body, keep_blank_values=True)` grouped by name: blank values
    are kept, empty parts skipped, bytes that are no UTF-8 replaced. With `names` only the fields
    of these names are kept. A value of more than `LONGEST_VALUE` characters is cut there, since
    taking its escapes apart needs many times its length. Of a name no more than `most` values and
    one are kept. So a long body takes a few times its length and no more.
    """
    fields: dict[str, list[str]] = {}
    # Values that come often, in a long body: each is kept once.
    shared: dict[str, str] | None = {} if len(body) > _PIECE else None
    for piece in _pieces(body):
        text = piece.decode("utf-8", "replace")
        escaped = "%" in text or "+" in text
        for part in text.split("&"):
            if not part:
                continue
            name, _, value = part.partition("=")
            if len(part) > LONGEST_VALUE:
                name, value = name[:LONGEST_VALUE], value[:LONGEST_VALUE]
            if escaped:
                name, value = unquote_plus(name), unquote_plus(value)
            if shared is not None:
                value = shared.get(value, value)
                if len(shared) < _SHARED and len(value) <= _SHORT:
                    shared[value] = value
            values = fields.get(name)
            if values is not None:
                if most is None or len(values) <= most:
                    values.append(value)
            elif names is None or name in names:
                fields[name] = [value]
    return fields


def _pieces(body: bytes) -> Iterator[bytes]:
    """Yield a body in parts that end between two fields, so that each can be taken apart alone."""
    start = 0
    while start < len(body):
        end = body.find(b"&", start + _PIECE)
        end = len(body) if end < 0 else end
        yield body[start:end]
        start = end + 1


def find_token(body: bytes, multipart: bool) -> str | None:
    """Return the first field `token` of a form's beginning without taking the form apart."""
    if multipart:
        found = _MULTIPART_TOKEN.search(body)
    else:
        found = _FIRST_TOKEN.match(body) or _LATER_TOKEN.search(body)
    if found is None:
        return None
    text = found.group(1).decode("utf-8", "replace")
    return text if multipart else unquote_plus(text)
