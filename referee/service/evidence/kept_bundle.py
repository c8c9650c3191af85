# SPDX-License-Identifier: Apache-2.0
"""Whether a file is the bundle that a session gives now, so that nobody need write it again."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from referee.errors import InputError
from referee.service.evidence.as_signed import hash_findings, read_manifest
from referee.service.evidence.bundle import MEMBERS, members_of
from referee.service.evidence.bundle_file import NotABundle, opened_bundle, read_members
from referee.service.evidence.facts import refuse_changed
from referee.service.evidence.signature import read_envelope, signature_findings
from referee.service.setup.contest import Contest
from referee.service.setup.signing_key import PRIVATE, read_private_key
from referee.store.sessions import load_session

# The record that ends a zip file without a comment, and the longest comment.
_END, _END_BYTES, _COMMENT_MOST = b"PK\5\6", 22, 0xFFFF


def fault_of_kept(
    contest: Contest,
    session_id: int,
    path: Path,
    tell: Callable[[str], object] = refuse_changed,
) -> str | None:
    """Return why a file is not a session's bundle, as its facts are now; None if it is.

    Every byte of the file is read, each member is made again from the facts, and their hashes are
    compared. A bundle by another version of the referee, or with a judge's signature, holds too.
    `tell` gets a sentence about each row that was changed; by default that is a `Refusal` (code
    `facts_changed`). Raises `Refusal` (code `session_unknown`).
    """
    try:
        members = read_members(path, MEMBERS)
        if not _ends_as_written(path):
            return "the file: bytes were added at its end"
        manifest = read_manifest(members)
        wrong = [*hash_findings(members, manifest), *signature_findings(manifest, ())]
        if not wrong and not _is_signed(contest, manifest):
            return "the event's key has not signed it"
    except InputError:
        return "it is not there"
    except NotABundle as error:
        wrong = [error.finding]
    if wrong:
        return f"{wrong[0].member or 'the file'}: {wrong[0].what}".rstrip(".")
    other = _other_members(contest, session_id, manifest, tell)
    return f"{', '.join(other)}: there are newer facts" if other else None


def _ends_as_written(path: Path) -> bool:
    """Tell whether a file has nothing behind the record that ends a zip file; True if it has none.

    Readers of zip files look for this record from the end, and take what stands behind it for
    nothing.
    """
    with opened_bundle(path) as file:
        content = file.seek(0, os.SEEK_END)
        file.seek(max(0, content - _END_BYTES - _COMMENT_MOST))
        tail = file.read()
    at = tail.rfind(_END)
    return at < 0 or len(tail) - at == _END_BYTES


def _is_signed(contest: Contest, manifest: Mapping[str, Any]) -> bool:
    """Tell whether the event's key has signed a bundle; a copy of a folder may lack the key."""
    key = contest.config.storage.folder / PRIVATE
    if not key.exists():
        return True
    envelope = manifest["envelope"]
    return envelope is not None and read_envelope(envelope).is_signed_by(
        read_private_key(key).public_key()
    )


def _other_members(
    contest: Contest,
    session_id: int,
    manifest: Mapping[str, Any],
    tell: Callable[[str], object],
) -> list[str]:
    """Return the members that the facts give otherwise, or not at all, or only now."""
    digests = {}
    with contest.database.read() as connection:
        session = load_session(connection, session_id)
        version = manifest["referee_version"]
        for name, blocks in members_of(contest, session, tell, version).items():
            digest = sha256()
            for block in blocks:
                digest.update(block)
            digests[name] = digest.hexdigest()
    listed = manifest["sha256"]
    return sorted(
        member for member in {*digests, *listed} if digests.get(member) != listed.get(member)
    )
