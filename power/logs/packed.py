# SPDX-License-Identifier: Apache-2.0
"""Power logs that gzip has packed: a day of readings each 100 ms is 97 MB of text, packed 23 MB.

A run that goes on is never packed: a killed program would lose its last rows. `pack` packs what has
ended, and so does the program gzip. Every reader of a log takes both forms.
"""

from __future__ import annotations

import gzip
import os
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from power.bounded_file import TEXT_ENCODING, require_file
from power.logs.facts_file import PACKED, sync_folder

# RFC 1952, section 2.3.1.
_MAGIC = b"\x1f\x8b"


@contextmanager
def opened_log(log: Path, errors: str = "strict") -> Iterator[TextIO]:
    """Open a log as text in UTF-8, packed or not, with a byte order mark or without.

    Raises ValueError for a packed log whose end is missing or whose check sum is wrong.
    """
    require_file(log)
    with open(log, "rb") as file:
        packed = file.read(len(_MAGIC)) == _MAGIC
    opener = gzip.open if packed else open
    try:
        with opener(log, "rt", encoding=TEXT_ENCODING, errors=errors) as text:
            yield text
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{log} is no whole gzip file ({error})") from None


def packed_path(log: Path) -> Path:
    """Return the path that `pack` gives a log."""
    return log.with_name(log.name + PACKED)


def pack(log: Path) -> Path:
    """Replace a log that nobody writes any more by a packed one beside it, and return its path.

    The packed file is on the disk before the log goes. A failure leaves the log as it was. Raises
    OSError, also if there is such a file already.
    """
    packed = packed_path(log)
    if packed.exists():
        raise FileExistsError(f"{packed} already exists")
    partial = packed.with_name(packed.name + ".part")
    try:
        with open(log, "rb") as whole, open(partial, "wb") as file:
            # The same log gives the same bytes, so the time of packing stays out.
            with gzip.GzipFile(log.name, "wb", mtime=0, fileobj=file) as smaller:
                shutil.copyfileobj(whole, smaller)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, packed)
        sync_folder(log.parent)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    log.unlink()
    return packed
