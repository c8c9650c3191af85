# SPDX-License-Identifier: Apache-2.0
"""The member `facts.jsonl`: each stored row of a session, tied by hashes to the rows before it.

A line has `table`, `row` with its columns in order, and `strand`, the link in hex. A blob stands as
`{"sha256": …}`, and a number that JSON lacks as `{"float": "inf"}`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

import msgspec

from referee.errors import Refusal
from referee.store.chain import ChainLink, linked, links, packed_digest, strand_fault
from referee.store.database import Connection

_ROWS = 1000
# JSON lacks some values of these types.
_ODD = (bytes, float)
_encode = msgspec.json.Encoder().encode


def fact_lines(
    connection: Connection, session_id: int, tell: Callable[[str], object]
) -> Iterator[bytes]:
    """Yield the lines of a session's facts; `tell` gets a sentence about each changed row."""
    lines = _lines(links(connection, session_id), tell)
    while block := list(islice(lines, _ROWS)):
        yield b"".join(block)


def refuse_changed(fault: str) -> None:
    """Raise `Refusal`, because a row is not as it was stored."""
    raise Refusal(
        "facts_changed",
        f"{fault} Nothing is written. 'referee audit' tells what else was changed.",
    )


def link_behind(line: Mapping[str, Any], before: bytes | None) -> bytes:
    """Return the link of a line behind the link `before`, computed from its row.

    Raises ValueError, KeyError or TypeError for a line that is no fact.
    """
    row = line["row"]
    values = [value_of(value) if type(value) is dict else value for value in row.values()]
    return linked(packed_digest([line["table"], *values]), before)


def _lines(links: Iterator[ChainLink], tell: Callable[[str], object]) -> Iterator[bytes]:
    before: bytes | None = None
    for link in links:
        fault = strand_fault(link, before)
        if fault is not None:
            tell(fault)
        before = link.strand
        row = None
        if link.row is not None:
            values = [_json(value) if type(value) in _ODD else value for value in link.row]
            row = dict(zip(link.columns, values, strict=True))
        line = {"table": link.table, "row": row, "strand": link.strand.hex()}
        yield _encode(line) + b"\n"


def _json(value: Any) -> object:
    if type(value) is bytes:
        return {"sha256": value.hex()}
    return value if math.isfinite(value) else {"float": repr(value)}


def value_of(value: Any) -> Any:
    """Return what a value of a line stands for: a blob's SHA-256, or a number that JSON lacks."""
    if isinstance(value, dict):
        ((kind, text),) = value.items()
        return bytes.fromhex(text) if kind == "sha256" else float(text)
    return value
