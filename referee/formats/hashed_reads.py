# SPDX-License-Identifier: Apache-2.0
"""Input files that are read once: what is hashed is what is used, also through a pipe."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import file_digest, sha256
from pathlib import Path

from power.bounded_file import require_file
from referee.errors import InputError
from referee.formats.text import stored_bytes, unpacked

# Annotations, and what names the classes of YOLO labels.
_READ_FROM_FOLDERS = (".xml", ".txt", ".yaml", ".yml", ".names", ".labels", ".json")


class HashedReads:
    """A reader of files and folders that remembers what it has read, and the SHA-256 of it.

    `read` is given to those who use a file, and `sha256_of` says which bytes they used. It lives as
    long as a ground truth is being read.
    """

    def __init__(self) -> None:
        self._stored: dict[Path, bytes] = {}
        self._folders: list[Path] = []

    def keep(self, path: Path, content: bytes) -> None:
        """Take the content of a file that was read elsewhere, for example out of a bundle."""
        self._stored[path] = content

    def has(self, path: Path) -> bool:
        """Tell whether a file was read already, or its content was kept."""
        return path in self._stored

    def read(self, path: Path) -> bytes:
        """Return a file's content, unpacked where gzip packed it.

        Raises `InputError` if it cannot be read, or has come into a folder that was hashed before.
        """
        if path not in self._stored and any(path.is_relative_to(one) for one in self._folders):
            raise InputError(f"{path} came while its folder was read: try again")
        return unpacked(path, self.stored(path))

    @property
    def paths(self) -> Iterable[Path]:
        """The files whose content was asked for."""
        return self._stored.keys()

    def sha256_of(self, path: Path) -> str:
        """Return the SHA-256 in hex of a file, or of the names and contents of a folder."""
        if path in self._stored or not path.is_dir():
            return sha256(self.stored(path)).hexdigest()
        digest = sha256()
        for entry in sorted(path.rglob("*")):
            if entry.is_file():
                digest.update(f"{entry.relative_to(path)} {self._of_folder(entry)}\n".encode())
        self._folders.append(path)
        return digest.hexdigest()

    def stored(self, path: Path) -> bytes:
        """Return a file's content as it is stored; raise `InputError` if it cannot be read."""
        if path not in self._stored:
            self._stored[path] = stored_bytes(path)
        return self._stored[path]

    def _of_folder(self, path: Path) -> str:
        """Return the hash of a file of a folder; pictures beside the annotations are not kept."""
        if path in self._stored or path.suffix.lower() in _READ_FROM_FOLDERS:
            return sha256(self.stored(path)).hexdigest()
        try:
            require_file(path)
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}") from None
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
