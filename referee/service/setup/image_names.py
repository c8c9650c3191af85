# SPDX-License-Identifier: Apache-2.0
"""The files that a name of an image can mean, as ground truths of other programs write names.

They write them with folders, with Windows's separators, escaped as in a URL, in other capitals, or
without the suffix. The longest end of a name counts that the folder has. Among spellings of the
same length the exact one counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from unicodedata import normalize
from urllib.parse import unquote

MOST_FOLDERS = 16
"""So many folders deep images may lie, and so many parts of a name count from its end."""

_DRIVE = re.compile(r"^[A-Za-z]:")
# The names of files that Label Studio serves from a disk stand in the query of an address.
_QUERY_OF_A_FILE = re.compile(r"\?d=")
_QUERY = re.compile(r"[?#].*")

Fold = Callable[[str], str]


class _Endings:
    """Files by the ends of their paths; `fold` says which paths count as equal."""

    def __init__(self, files: Iterable[str], fold: Fold, path_of: Fold = str) -> None:
        """`path_of` gives the path by which a file is found."""
        self._fold = fold
        self._whole = _Table()
        self._ends = _Table()
        for file in files:
            path = fold(path_of(file))
            self._whole.add(path, file)
            while "/" in path:
                path = path.partition("/")[2]
                self._ends.add(path, file)

    def files_with(self, end: str) -> Sequence[str]:
        """Return the files of exactly this path, or else those whose path ends with it."""
        folded = self._fold(end)
        return self._whole.files(folded) or self._ends.files(folded)


class _Table:
    """Files by text. A million files are too many for a list each, so a single one has none."""

    def __init__(self) -> None:
        self._files: dict[str, str | list[str]] = {}

    def add(self, text: str, file: str) -> None:
        there = self._files.setdefault(text, file)
        if isinstance(there, list):
            there.append(file)
        elif there != file:
            self._files[text] = [there, file]

    def files(self, text: str) -> Sequence[str]:
        found = self._files.get(text, ())
        return (found,) if isinstance(found, str) else found


class ImageNames:
    """The paths of a folder's files, with slashes, found by names as ground truths write them."""

    def __init__(self, files: Sequence[str]) -> None:
        self._files = files
        self._depth = max((file.count("/") + 1 for file in files), default=0)

    @cached_property
    def _paths(self) -> frozenset[str]:
        return frozenset(self._files)

    @cached_property
    def _exact(self) -> _Endings:
        return _Endings(self._files, str)

    @cached_property
    def _stems(self) -> _Endings:
        return _Endings(self._files, composed, without_suffix)

    @cached_property
    def _looser(self) -> Sequence[_Endings]:
        """What counts as equal if the exact spelling is not there, the nearest first."""
        return (
            _Endings(self._files, composed),
            _Endings(self._files, _caseless),
            self._stems,
            _Endings(self._files, _caseless, without_suffix),
        )

    def files_without_suffix(self, stem: str) -> Sequence[str]:
        """Return the files of this name behind which a suffix stands."""
        return self._stems.files_with(stem)

    def files_of(self, name: str) -> Sequence[str]:
        """Return the files that a name could mean; several of them are equally good."""
        if name in self._paths:  # Most names are paths as they stand.
            return (name,)
        spellings = _spellings(name)
        longest = min(self._depth, max(map(len, spellings)))
        for length in range(longest, 0, -1):
            ends = ["/".join(parts[-length:]) for parts in spellings if len(parts) >= length]
            files = _first(self._exact, ends) or next(
                filter(None, (_first(table, ends) for table in self._looser)), ()
            )
            if files:
                return files
        return ()


def _first(table: _Endings, ends: Iterable[str]) -> Sequence[str]:
    """Return the files with the first of these ends that the table has."""
    return next(filter(None, map(table.files_with, ends)), ())


def _spellings(name: str) -> list[tuple[str, ...]]:
    """Return the parts of a path in the ways in which a name can be read, the plainest first."""
    windows = _DRIVE.sub("", name.strip().replace("\\", "/"))
    plain = unquote(windows, errors="replace")
    address = _QUERY.sub("", windows) if "://" in name else windows
    address = unquote(_QUERY_OF_A_FILE.sub("/", address), errors="replace")
    ways = [_parts(way) for way in (name, windows, plain, address)]
    return list(dict.fromkeys(ways))


def _parts(path: str) -> tuple[str, ...]:
    parts = tuple(part for part in path.split("/") if part not in ("", ".", ".."))
    return parts[-MOST_FOLDERS - 1 :] or ("",)


def composed(path: str) -> str:
    """Return a path in Unicode's composed form; a Mac's disk has the decomposed one."""
    return normalize("NFC", path)


def _caseless(path: str) -> str:
    return composed(path).casefold()


def without_suffix(path: str) -> str:
    """Return a path without the suffix of its name."""
    folder, slash, name = path.rpartition("/")
    return folder + slash + (name.rpartition(".")[0] or name)
