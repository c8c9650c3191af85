# SPDX-License-Identifier: Apache-2.0
"""Long texts cut into blocks of whole lines, which several threads parse at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_Parsed = TypeVar("_Parsed")

THREADS = min(4, os.cpu_count() or 1)
"""Threads for the parsing of a file. numpy's calls release the interpreter's lock."""

# Large enough to make numpy's cost per call small, small enough to stay in a processor's cache.
_BLOCK = 2**18


def parse_blocks(
    content: bytes, parse: Callable[[bytes], _Parsed], *, threads: int = 1
) -> Iterator[tuple[bytes, _Parsed]]:
    """Yield blocks of whole lines in order, each with what `parse` returns for it.

    With one thread the caller's own thread parses. With several, `parse` runs in all of them.
    """
    blocks = _split(content)
    if threads == 1 or len(blocks) == 1:
        yield from ((block, parse(block)) for block in blocks)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="parse-numbers") as pool:
        yield from zip(blocks, pool.map(parse, blocks), strict=True)


def _split(content: bytes) -> list[bytes]:
    """Cut content into blocks of whole lines."""
    blocks = []
    start = 0
    while start < len(content):
        end = content.find(b"\n", start + _BLOCK) + 1 or len(content)
        blocks.append(content[start:end])
        start = end
    return blocks
