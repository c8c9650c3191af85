# SPDX-License-Identifier: Apache-2.0
"""Fast parsers for HTML forms: contestants post thousands of them, with lists of fields.

For encoded forms the standard library's parser takes three times as long for the same result. With
a thousand boxes that would be most of the post's time. A property test compares both parsers.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from urllib.parse import unquote_plus

from referee.formats.faults import FormatError
from referee.formats.unused_fields import LOOKED_AT, UnusedParts

LONGEST_VALUE = 10_000
"""Characters of a form's value that are read; a number or a token has a few dozen."""

# A body is parsed in pieces of about this many bytes.
_PIECE = 256 * 1024
# Short values repeat in a long body. Up to _SHARED values of up to _SHORT characters are shared.
_SHORT = 4
_SHARED = 20_000

# Two patterns, because one pattern for both beginnings is tried at every byte and is far slower.
_FIRST_TOKEN = re.compile(rb"token=([^&]*)")
_LATER_TOKEN = re.compile(rb"&token=([^&]*)")
_MULTIPART_TOKEN = re.compile(
    rb'name="?token"?[ \t]*(?:;[^\r\n]*)?\r\n(?:[^\r\n]+\r\n)*\r\n([^\r\n]*)(?=\r\n|\Z)'
)
_LISTS = rb"(?:image_name|CLASS_ID|confidence|[xy]m(?:in|ax))"
_LIST = re.compile(rb"(?:\A|&)" + _LISTS + rb"=")
_MULTIPART_LIST = re.compile(rb'name="?' + _LISTS + rb'"?[ \t]*[;\r]')


def parse_urlencoded(
    body: bytes,
    names: Container[str] | None = None,
    most: int | None = None,
    unused: UnusedParts | None = None,
) -> dict[str, list[str]]:
    """Return name → values, in the order sent, of an `application/x-www-form-urlencoded` body.

    Equals `urllib.parse.parse_qsl(body, keep_blank_values=True)` grouped by name: blank values
    are kept, empty parts are skipped, bytes that are not UTF-8 are replaced. With `names` only
    the fields of these names are kept, and `unused` gets the others.

    Two limits keep the memory at a few times the body's length. A value of more than
    `LONGEST_VALUE` characters is cut there, since decoding escapes takes many times their length.
    A name keeps at most `most` + 1 values, so the caller can see that there were more than `most`.
    """
    fields: dict[str, list[str]] = {}
    # Short values of a long body, each stored once.
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
            elif unused is not None:
                unused.add(name, value)
    return fields


def _pieces(body: bytes) -> Iterator[bytes]:
    """Yield a body in pieces that end between two fields, so each piece can be parsed alone."""
    start = 0
    while start < len(body):
        end = body.find(b"&", start + _PIECE)
        end = len(body) if end < 0 else end
        yield body[start:end]
        start = end + 1


def parse_multipart(
    body: bytes,
    boundary: str,
    names: Container[str],
    most: int,
    unused: UnusedParts | None = None,
) -> dict[str, list[str]]:
    """Return name → values, in the order sent, of a `multipart/form-data` body.

    Only the fields of these names are kept; `unused` gets the others, and parts with a file name.
    Bytes that are not UTF-8 are replaced. The limits are those of `parse_urlencoded`. A part costs
    about 6 µs.

    Raises `FormatError` for a body that is malformed or breaks off: its last fields are missing.
    """
    # Loaded here, because hardly any client sends such a form.
    import multipart

    fields: dict[str, list[str]] = {}
    value: list[bytes] = []
    name = ""
    is_file = is_kept = False
    try:
        with multipart.PushMultipartParser(boundary) as parser:
            for part in parser.parse(body):
                if isinstance(part, multipart.MultipartSegment):
                    name, is_file, value = part.name or "", part.filename is not None, []
                    is_kept = not is_file and name in names
                elif part is not None:
                    # Of what nobody keeps the beginning is enough.
                    if is_kept or not value:
                        value.append(part if is_kept else part[:LOOKED_AT])
                elif is_kept:
                    _keep(fields.setdefault(name, []), b"".join(value), most)
                elif unused is not None:
                    unused.add(name, b"".join(value).decode("utf-8", "replace"), is_file=is_file)
    except multipart.MultipartError as error:
        reason = str(error)[:1].lower() + str(error)[1:]
        raise FormatError((f"the multipart form is malformed or breaks off ({reason})",)) from None
    return fields


def _keep(values: list[str], value: bytes, most: int) -> None:
    if len(values) <= most:
        values.append(value[:LONGEST_VALUE].decode("utf-8", "replace"))


def find_token(body: bytes, multipart: bool) -> str | None:
    """Return the first field `token` in the beginning of a form, without parsing the form."""
    if multipart:
        token = _MULTIPART_TOKEN.search(body)
    else:
        token = _FIRST_TOKEN.match(body) or _LATER_TOKEN.search(body)
    if token is None:
        return None
    text = token.group(1).decode("utf-8", "replace")
    return text if multipart else unquote_plus(text)


def has_answer_list(body: bytes, multipart: bool) -> bool:
    """Tell whether the beginning of a form has a field of an answer's lists."""
    return (_MULTIPART_LIST if multipart else _LIST).search(body) is not None
