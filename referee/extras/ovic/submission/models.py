# SPDX-License-Identifier: Apache-2.0
"""The folder of submitted models: each file lies under the SHA-256 of its content."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee.errors import RefereeError, Refusal, Unavailable
from referee.service.setup.private_files import make_private
from referee.service.setup.whole_files import sync_folder

_COMING = ".coming-"
# A file that came for this long belongs to a program that was killed: a body has less time.
_FORGOTTEN_S = 3600.0


@dataclass(frozen=True)
class StoredModel:
    """A model that is on the disk for good: the SHA-256 of its bytes in hex, and their number."""

    sha256: str
    size_bytes: int


def path_of_model(folder: Path, sha256: str) -> Path:
    """Return the path of a model in the folder."""
    return folder / f"{sha256}.tflite"


class ComingModel:
    """A model that is coming in, in a file of its own until it is complete.

    Its methods block on the disk. They raise `Unavailable` if the disk does not take the bytes.
    """

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._hash = hashlib.sha256()
        self._size = 0
        with _disk():
            make_private(folder)
            descriptor, path = tempfile.mkstemp(dir=folder, prefix=_COMING)  # with mode 600
        self._file: Any = os.fdopen(descriptor, "wb", buffering=0)
        self._path: Path | None = Path(path)

    def add(self, piece: bytes) -> None:
        """Append a piece; raise `Refusal` (code `model_too_large`) for too many bytes."""
        self._size += len(piece)
        if self._size > self._most_bytes:
            raise too_large(self._most_bytes)
        self._hash.update(piece)
        view = memoryview(piece)
        with _disk():
            while view:
                view = view[self._file.write(view) :]

    @property
    def sha256(self) -> str:
        """Return the SHA-256, in hex, of what has come so far."""
        return self._hash.hexdigest()

    def keep(self) -> StoredModel:
        """Put the file under its name, and return when it survives a power cut.

        Raises `Refusal` (code `model_empty`) without a byte.
        """
        if not self._size:
            raise Refusal("model_empty", "The body is empty: send the bytes of the model's file.")
        stored = StoredModel(self.sha256, self._size)
        with _disk():
            os.fsync(self._file.fileno())
            if self._path is not None:
                os.replace(self._path, path_of_model(self._folder, stored.sha256))
            self._path = None
            self._file.close()
            sync_folder(self._folder)
        return stored

    def drop(self) -> None:
        """Remove what is not kept; safe to call twice, and after `keep`."""
        with contextlib.suppress(OSError):
            self._file.close()
        if self._path is not None:
            self._path.unlink(missing_ok=True)
            self._path = None


def too_large(most_bytes: int) -> Refusal:
    """Return the refusal of a model that is too large."""
    return Refusal(
        "model_too_large",
        f"Nothing was stored: a model may have {most_bytes} bytes ({most_bytes >> 20} MB) at most.",
    )


def sweep(folder: Path, known: Collection[str]) -> None:
    """Remove what killed programs left behind: parts of models, and models without an entry.

    `known` has the SHA-256 of each model that has an entry. A young file may still get its entry.
    """
    with contextlib.suppress(OSError):
        surplus = [path for path in folder.glob("*.tflite") if path.stem not in known]
        for path in [*folder.glob(f"{_COMING}*"), *surplus]:
            # The file's time is wall time, so there is no monotonic time to compare it with.
            if time.time() - path.stat().st_mtime > _FORGOTTEN_S:
                path.unlink(missing_ok=True)


@contextmanager
def _disk() -> Iterator[None]:
    try:
        yield
    except RefereeError:
        raise
    except OSError as error:
        raise Unavailable(
            f"The referee's disk did not take the model ({error.strerror or error}). Nothing was "
            "stored: tell the operator, and send it again later."
        ) from error
