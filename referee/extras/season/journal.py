# SPDX-License-Identifier: Apache-2.0
"""The rows that a season has so far, in a file beside the one that it will write.

Each row is written as soon as it is known, so a season that was stopped or killed goes on from
there.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Self

from referee.errors import InputError
from referee.extras.season.rows import Row, read_row, read_rows, row_line, season_bytes
from referee.service.setup.whole_files import replace_file


class SeasonJournal:
    """The rows of a season's file, and those of its part `FILE.part`; one process may hold it.

    Raises `InputError` if another process writes the same file, or if it is no season's.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._part = path.with_name(path.name + ".part")
        try:
            # A new file is opened for reading too: a killed season may have left rows in it.
            self._file = os.fdopen(os.open(self._part, os.O_RDWR | os.O_CREAT, 0o666), "r+b")
        except OSError as error:
            raise InputError(f"{self._part} cannot be written: {error.strerror}.") from None
        try:
            self._take_lock()
            self.rows: list[Row] = (read_rows(path) if path.exists() else []) + self._kept()
            """The rows that were there before."""
        except InputError:
            self.close()
            raise

    def _take_lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"{self._part} is in use: another 'referee rescore' writes {self._path}. Wait for"
                " its end, or name another file."
            ) from None

    def _kept(self) -> list[Row]:
        """Return the whole lines of the part; a line that a kill cut off is dropped."""
        content = self._file.read()
        whole = content[: content.rfind(b"\n") + 1]
        self._file.seek(len(whole))
        self._file.truncate()
        return [read_row(self._part, n, line) for n, line in enumerate(whole.splitlines(), 1)]

    def add(self, row: Row) -> None:
        """Keep a row, whatever happens to this process from now on."""
        try:
            self._file.write(row_line(row))
            self._file.flush()
        except OSError as error:
            raise InputError(f"{self._part} cannot be written: {error.strerror}.") from None

    def finish(self, rows: list[Row]) -> None:
        """Write the season's file, whole or not at all, and drop its part."""
        replace_file(self._path, season_bytes(rows), 0o644)
        self._part.unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of the file; a part without a row is dropped."""
        if os.fstat(self._file.fileno()).st_size == 0:
            self._part.unlink(missing_ok=True)
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
