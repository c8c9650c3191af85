# SPDX-License-Identifier: Apache-2.0
"""A start that fails leaves nothing behind: its folder is as it was before."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from referee.errors import Unavailable
from referee.service.setup.own_folder import without_crumbs

_LOCK, _CONFIGURATION = "contest.lock", "contest.toml"


class SilentServer(Unavailable):
    """A server that was started does not answer; the logs in the contest's folder say why."""


@dataclass(frozen=True)
class FolderBefore:
    """A folder before a start: which of its parents were missing, innermost first, and its mode."""

    folder: Path
    missing: tuple[Path, ...]
    mode: int | None

    @classmethod
    def of(cls, folder: Path) -> FolderBefore:
        """Return what there is now; ask before the folder is locked, because a lock makes it."""
        path = folder.absolute()
        missing = []
        for place in (path, *path.parents):
            if os.path.lexists(place):
                break
            missing.append(place)
        mode = None if missing or not path.is_dir() else stat.S_IMODE(path.stat().st_mode)
        return cls(path, tuple(missing), mode)

    @contextmanager
    def undone(self) -> Iterator[Callable[[], None]]:
        """Undo what the block makes in the folder if it fails before it calls the function.

        The caller holds the lock of the folder. Earlier rehearsals stay, with their configuration
        of before. The logs of a server that does not answer stay, because the error names them.
        """
        names = set(os.listdir(self.folder)) - {_LOCK}
        configuration = self._configuration()
        kept = False

        def keep() -> None:
            nonlocal kept
            kept = True

        try:
            yield keep
        except SilentServer:
            raise
        except BaseException:
            if not kept and without_crumbs(names):
                self._restore(configuration)
            elif not kept:
                self._empty(names)
            raise

    def _configuration(self) -> bytes | None:
        try:
            return (self.folder / _CONFIGURATION).read_bytes()
        except OSError:
            return None

    def _restore(self, configuration: bytes | None) -> None:
        if configuration is not None and configuration != self._configuration():
            (self.folder / _CONFIGURATION).write_bytes(configuration)

    def _empty(self, names: set[str]) -> None:
        """Remove what was made; a failure here must not hide why the start failed."""
        with suppress(OSError):
            for path in self.folder.iterdir():
                if path.name in names:
                    continue
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()
            if self.mode is not None:
                self.folder.chmod(self.mode)
            for place in self.missing:
                place.rmdir()
