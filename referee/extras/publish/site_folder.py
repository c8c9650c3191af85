# SPDX-License-Identifier: Apache-2.0
"""The folder of a site: contents under names of their own, then the pages, then the pointer.

A reader who holds any pointer finds all that it names: a content is there before a pointer names
it, and stays for a while after none does. What did not change is not written.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from power.bounded_file import SMALL_BYTES, file_bytes
from referee.errors import InputError
from referee.extras.publish.names import (
    BUNDLES,
    DATA,
    IMAGES,
    POINTER,
    TEAMS,
    hash_of,
    hashed_name,
    is_hashed,
    is_team_page,
)
from referee.service.setup.own_folder import strangers
from referee.service.setup.whole_files import replace_file

JsonObject = dict[str, Any]
"""What a file of a site says: an earlier run wrote it, and anybody may have changed it."""

KEPT_S = 3600.0
"""So long a content stays that no pointer names any more: a cache may hold an old pointer."""

PART = ".part"
"""The end of a file in the folder of bundles that is still being written."""

_FOLDERS = (DATA, IMAGES, BUNDLES)
# What was published by somebody's choice goes at once when that is taken back.
_AT_ONCE = (IMAGES, BUNDLES)
_PUBLIC, _PUBLIC_FOLDER = 0o644, 0o755


@dataclass
class Written:
    """What a renewal has written."""

    files: int = 0
    bytes: int = 0
    removed: int = 0


@dataclass(frozen=True)
class Taken:
    """A part of a set: its contents, and the pages beside them."""

    named: frozenset[str]
    pages: Mapping[str, bytes]


@dataclass
class _Next:
    """The set that is being made: its contents, and the pages beside them."""

    named: set[str] = field(default_factory=set)
    pages: dict[str, bytes] = field(default_factory=dict)


class SiteFolder:
    """The folder of one event's site; one process at a time writes there."""

    def __init__(self, path: Path, event: str, now_s: Callable[[], float]) -> None:
        self.path = path
        self._event, self._now_s = event, now_s
        self._next, self._set = _Next(), frozenset[str]()
        self._left: dict[str, float] = {}
        self._written = Written()
        self._pages: dict[str, str] = {}

    def make(self) -> None:
        """Make the folder if it is not there.

        Raises `InputError` for one that holds anything but the site of this event; nothing was
        changed then.
        """
        self._require_own()
        try:
            for folder in (self.path, *(self.path / name for name in (*_FOLDERS, TEAMS))):
                folder.mkdir(_PUBLIC_FOLDER, parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{self.path}: cannot be a site: {error.strerror}.") from None

    def open(self) -> None:
        """Look at what earlier runs have left."""
        for part in (self.path / BUNDLES).glob(f"*{PART}"):
            part.unlink()
        self._left = dict(self._found())

    def pointer(self) -> JsonObject:
        """Return the pointer that is there; empty without one that can be read."""
        return self.read_json(f"{POINTER}.json")

    def read_json(self, name: str) -> JsonObject:
        """Return the object in a file of the site, a script for `published` too; or nothing."""
        try:
            text = file_bytes(self.path / name, SMALL_BYTES).decode()
            if name.endswith(".js"):
                text = text.removeprefix("published(").rstrip().removesuffix(");")
            found = json.loads(text)
        except (OSError, InputError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def put(self, folder: str, kind: str, end: str, content: bytes) -> str:
        """Let the next set have a content; return its path."""
        name = hashed_name(folder, kind, hash_of(content), end)
        path = self.path / name
        # One that a power cut has left half is no content.
        if not path.is_file() or path.stat().st_size != len(content):
            self._write(name, content)
        self._next.named.add(name)
        return name

    def put_file(self, folder: str, kind: str, end: str, source: Path) -> str:
        """Let the next set have a file that may be large; return its path. The source is moved."""
        with source.open("rb") as file:
            digits = hash_of_file(file)
        name = hashed_name(folder, kind, digits, end)
        path, size = self.path / name, source.stat().st_size
        if not path.is_file() or path.stat().st_size != size:
            source.chmod(_PUBLIC)
            os.replace(source, path)
            self._count(size)
        else:
            source.unlink()
        self._next.named.add(name)
        return name

    def keep(self, name: str) -> bool:
        """Let the next set have a content that is there; tell whether it is there, and whole."""
        folder, _, rest = name.partition("/")
        if folder not in _FOLDERS or not is_hashed(rest):
            return False
        if name in self._set:
            self._next.named.add(name)
            return True
        try:
            with (self.path / name).open("rb") as file:
                whole = hash_of_file(file) == rest.split(".")[1]
        except OSError:
            return False
        if whole:
            self._next.named.add(name)
        return whole

    def page(self, name: str, content: bytes) -> None:
        """Let a file have this content from the next set on, whatever it was."""
        self._next.pages[name] = content

    def taken(self) -> Taken:
        """Return what the next set has so far, for a later one that has all of it again."""
        return Taken(frozenset(self._next.named), dict(self._next.pages))

    def take(self, taken: Taken) -> None:
        """Let the next set have all of this."""
        self._next.named |= taken.named
        self._next.pages |= taken.pages

    def commit(self, pointer: Mapping[str, object]) -> Written:
        """Put the next set in force; return what was written since the last one.

        The pointer is replaced last, and only by another one.
        """
        made, self._next = self._next, _Next()
        for name, content in made.pages.items():
            self._write_page(name, content)
        text = json.dumps(pointer, indent=1) + "\n"
        self._write_page(f"{POINTER}.js", script(text))
        self._write_page(f"{POINTER}.json", text.encode())
        named = frozenset({*made.named, *(page for page in made.pages if page.startswith(TEAMS))})
        for name in self._set - named:
            self._left.setdefault(name, self._now_s())
        self._set = named
        self._remove()
        written, self._written = self._written, Written()
        return written

    def drop(self) -> None:
        """Forget the next set, which could not be made; what it has written leaves in time."""
        for name in self._next.named - self._set:
            self._left.setdefault(name, self._now_s())
        self._next = _Next()

    def remove_old(self) -> None:
        """Remove what no pointer has named for a while."""
        self._remove()

    def _write_page(self, name: str, content: bytes) -> None:
        digits = hash_of(content)
        path = self.path / name
        if self._pages.get(name) != digits:
            try:
                known = path.read_bytes()
            except OSError:
                known = None
            if known != content:
                self._write(name, content)
            self._pages[name] = digits

    def _write(self, name: str, content: bytes) -> None:
        replace_file(self.path / name, content, _PUBLIC)
        self._count(len(content))

    def _count(self, size: int) -> None:
        self._written.files += 1
        self._written.bytes += size

    def _remove(self) -> None:
        now_s = self._now_s()
        for name, left_s in [*self._left.items()]:
            if name in self._set:
                del self._left[name]
            elif name.startswith(_AT_ONCE) or now_s - left_s >= KEPT_S:
                (self.path / name).unlink(missing_ok=True)
                self._pages.pop(name, None)
                self._written.removed += 1
                del self._left[name]

    def _found(self) -> Iterator[tuple[str, float]]:
        """Yield what earlier runs have left, with the moment at which it may have left a set.

        What the pointer names leaves when the first set of this run does without it.
        """
        now_s = self._now_s()
        named = named_by(self)
        for folder in (*_FOLDERS, TEAMS):
            for path in (self.path / folder).iterdir():
                name = f"{folder}/{path.name}"
                if folder == TEAMS and is_team_page(path.name):
                    yield name, now_s
                elif folder != TEAMS and is_hashed(path.name):
                    yield name, now_s if name in named else path.stat().st_mtime

    def _require_own(self) -> None:
        event = self.pointer().get("event")
        if event == self._event:
            return
        if isinstance(event, str):
            raise InputError(
                f"{self.path}: is the site of another event. Nothing was changed. Name another "
                "folder."
            )
        if self.path.exists() and not self.path.is_dir():
            raise InputError(f"{self.path}: is no folder. Name another one.")
        if fault := strangers(self.path):
            raise InputError(fault)


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a site's folder until the block ends; raise `InputError` if another process has it."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            text = f"{folder}: another process renews this site. Stop that one."
            raise InputError(text) from None
        yield
    finally:
        os.close(descriptor)


def script(text: str) -> bytes:
    """Return a script that hands a JSON text to the page that loads it."""
    return f"published({text.rstrip()});\n".encode()


def hash_of_file(file: Any) -> str:
    """Return the digits by which a file's content is named."""
    digest = sha256()
    for block in iter(lambda: file.read(1 << 20), b""):
        digest.update(block)
    return digest.hexdigest()[:16]


def named_by(folder: SiteFolder) -> set[str]:
    """Return the paths that a site's pointer leads to."""
    seen: set[str] = set()
    waiting = [folder.pointer()]
    while waiting:
        for text in _texts(waiting.pop()):
            if text not in seen and text.startswith(f"{DATA}/") and text.endswith(".js"):
                waiting.append(folder.read_json(text))
            seen.add(text)
    return seen


def _texts(told: object) -> Iterator[str]:
    if isinstance(told, str) and told.partition("/")[0] in _FOLDERS:
        yield told
    elif isinstance(told, dict):
        for value in told.values():
            yield from _texts(value)
    elif isinstance(told, list):
        for value in told:
            yield from _texts(value)
