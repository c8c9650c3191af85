# SPDX-License-Identifier: Apache-2.0
"""A contest as a check sees it: what is there is read, and nothing is made or changed.

What the event does not have yet, such as a database, stands in a temporary folder meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from referee.errors import RefereeError, Unavailable
from referee.service.setup.config import Config, StorageSection
from referee.service.setup.contest import Contest, open_contest
from referee.service.setup.extra import present_extras, rooms_of
from referee.service.setup.image_entries import Progress
from referee.service.setup.own_folder import Owner, owner_of, strangers, why_not_made
from referee.service.setup.preparation import look_at_material
from referee.service.setup.private_files import private_from_the_start
from referee.service.setup.secrets_file import secrets_path
from referee.service.setup.signing_key import require_one_key
from referee.store.database import Database
from referee.store.readable import copy_to, is_current, refusal_of_writes


@dataclass(frozen=True)
class Look:
    """What a look at an event found.

    `contest` has the images of now. `owner` says whose the contest's folder is, and `folder_fault`
    why the event cannot be kept there, '' if it can. `keeps` tells that the contest's database is
    the event's own, so that findings last. `material_fault` says why images and ground truth cannot
    be used, and is None if they can. `scratch` is the temporary folder.
    """

    contest: Contest
    owner: Owner
    folder_fault: str
    keeps: bool
    material_fault: RefereeError | None
    scratch: Path

    @property
    def playable(self) -> Contest:
        """Return the contest for checks that write: what does not keep has the temporary folder."""
        if self.keeps:
            return self.contest
        config = replace(self.contest.config, storage=StorageSection(self.scratch))
        return replace(self.contest, config=config)


@contextmanager
def looked_at(
    config: Config,
    *,
    keeping: bool,
    progress: Progress = lambda done, total: None,
    tell: Callable[[str], object] = lambda sentence: None,
) -> Iterator[Look]:
    """Look at an event until the block ends.

    With `keeping` the database of a folder that is the event's own may be made and written to.
    Raises `ConfigError` for keys that cannot be used, and `InputError` for a damaged database.
    """
    owner = owner_of(config.storage.folder)
    folder_fault = _folder_fault(config.storage.folder, owner)
    if not folder_fault:
        require_one_key(config.storage.folder, config.path)
    with ExitStack() as stack:
        try:
            scratch = Path(stack.enter_context(TemporaryDirectory(prefix="referee-")))
        except OSError as error:
            raise Unavailable(
                f"No temporary folder can be made ({error.strerror}). Let TMPDIR name a folder "
                "with room for one."
            ) from error
        copy = None if _is_usable(config, owner, keeping=keeping) else _stand_in(config, scratch)
        with private_from_the_start():
            database = Database(config.database, copy=copy)
            stack.callback(database.close)
            if copy is not None or not config.database.exists():
                database.migrate(rooms_of(present_extras(config)))
            keys = config.storage.folder if _has_keys(config) else scratch
            stored = open_contest(config, copy=copy, keys=keys)
        stack.callback(stored.database.close)
        contest, fault = _with_material(stored, progress, tell)
        yield Look(contest, owner, folder_fault, copy is None, fault, scratch)


def _folder_fault(folder: Path, owner: Owner) -> str:
    if owner is Owner.STRANGER:
        return strangers(folder)
    why = why_not_made(folder) if owner is Owner.NOBODY else refusal_of_writes(folder)
    return f"{folder}: cannot be used: {why}. Name another one." if why else ""


def _with_material(
    stored: Contest, progress: Progress, tell: Callable[[str], object]
) -> tuple[Contest, RefereeError | None]:
    """Return the contest with its images as they are now, or as stored, and why they are not."""
    try:
        found = look_at_material(stored.config, stored.database, progress=progress, tell=tell)
    except RefereeError as error:
        return stored, error
    manifest = found.manifest
    images, classes = manifest.images, manifest.classes
    return replace(stored, images=images, classes=classes, looked_at=manifest), None


def _is_usable(config: Config, owner: Owner, *, keeping: bool) -> bool:
    """Tell whether the event's own database may be opened, or made, without a change in a look."""
    if owner is not Owner.REFEREE or refusal_of_writes(config.storage.folder):
        return False
    if not config.database.exists():
        return keeping
    return is_current(config.database, rooms_of(present_extras(config)), in_use=not keeping)


def _stand_in(config: Config, scratch: Path) -> Path:
    """Return a database in the temporary folder: a copy of the event's, if it has one."""
    if not config.database.exists() or config.database.stat().st_size == 0:
        return scratch / config.database.name
    try:
        return copy_to(config.database, scratch)
    except OSError as error:
        raise Unavailable(
            f"{config.database} cannot be read ({error.strerror}). Look at its permissions, and "
            "let TMPDIR name a folder with room for a copy."
        ) from error


def _has_keys(config: Config) -> bool:
    return secrets_path(config.storage.folder).exists()
