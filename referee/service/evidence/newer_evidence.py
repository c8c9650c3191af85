# SPDX-License-Identifier: Apache-2.0
"""Bundles and slips beside a contest's folder that know more than its database.

A folder that was restored from a backup is older than what was exported and printed since. Only
bundles by the event's own key count. A slip is not signed, so it counts beside the event's files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from referee.core.restored import NewerEvidence
from referee.errors import RefereeError
from referee.service.evidence.as_signed import read_as_signed
from referee.service.evidence.bundle_file import NO_VALUE, NotABundle, opened_bundle
from referee.service.evidence.facts_read import FACTS
from referee.service.evidence.slip import SLIP_TEXT, slip_link
from referee.service.evidence.told_facts import told_of
from referee.service.setup.config import Config
from referee.service.setup.signing_key import PUBLIC
from referee.store.database import Connection
from referee.store.replay import strands_of

# A folder of thousands of files must not keep an event from its start.
_FOLDERS_MOST, _FILES_MOST = 200, 500
_SLIP_BYTES = 2**20


def newer_evidence(config: Config, connection: Connection) -> list[NewerEvidence]:
    """Return the files beside a contest's folder that have a link which its database lacks.

    It looks into the folder of the configuration, the contest's own, the folders in both, and those
    beside the configuration's. What cannot be read is left out.
    """
    folders = dict.fromkeys([config.path.parent, config.storage.folder])
    near = dict.fromkeys([*folders, *(one for folder in folders for one in _folders(folder))])
    wide = dict.fromkeys([*near, *_folders(config.path.parent.parent)])
    found = [*_bundles(config, connection, islice(wide, _FOLDERS_MOST))]
    return [*found, *_slips(connection, islice(near, _FOLDERS_MOST))]


def _folders(folder: Path) -> list[Path]:
    return sorted(entry for entry in _entries(folder) if entry.is_dir() and not entry.is_symlink())


def _entries(folder: Path) -> list[Path]:
    try:
        return [Path(entry.path) for entry in islice(os.scandir(folder), 10 * _FILES_MOST)]
    except OSError:
        return []


def _bundles(
    config: Config, connection: Connection, folders: Iterable[Path]
) -> Iterator[NewerEvidence]:
    key = config.path.parent / PUBLIC
    if not key.exists():
        return
    paths = (
        path
        for folder in folders
        for path in sorted(_entries(folder))
        if path.name.startswith("session") and path.suffix == ".zip"
    )
    for path in islice(paths, _FILES_MOST):
        try:
            with opened_bundle(path) as file:
                facts = told_of(read_as_signed(file, (FACTS,), [key]).members[FACTS])
        except (NotABundle, RefereeError, *NO_VALUE):
            continue  # It is no bundle of this event.
        if facts.strands[-1] not in strands_of(connection, facts.session):
            yield NewerEvidence(str(path), facts.session)


def _slips(connection: Connection, folders: Iterable[Path]) -> Iterator[NewerEvidence]:
    paths = (
        path
        for folder in folders
        for path in sorted(_entries(folder))
        if "slip" in path.name.lower() and path.suffix.lower() in (".txt", ".html", ".htm")
    )
    for path in islice(paths, _FILES_MOST):
        for slip in SLIP_TEXT.finditer(_text(path)):
            session, link = int(slip[1]), slip_link(slip[3])
            if not any(strand.startswith(link) for strand in strands_of(connection, session)):
                yield NewerEvidence(str(path), session)
                break


def _text(path: Path) -> str:
    try:
        if not path.is_file() or path.stat().st_size > _SLIP_BYTES:
            return ""
        return re.sub("<[^>]*>", " ", path.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return ""
