# SPDX-License-Identifier: Apache-2.0
"""What a file is that stands where a session's bundle shall be written.

A number names no session: a folder that was restored from a backup gives the same numbers again.
So a file is known by its facts. The links of its rows are those of the session, or the file is
another session's evidence, which is never replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from hashlib import sha256
from pathlib import Path
from typing import Any

from referee.core.dates import moment_text
from referee.errors import InputError, Refusal
from referee.service.evidence.as_signed import hash_findings, read_as_signed, read_manifest
from referee.service.evidence.bundle import MEMBERS, members_of
from referee.service.evidence.bundle_file import NotABundle, opened_bundle, read_members
from referee.service.evidence.completeness import bundle_name, own_name
from referee.service.evidence.facts import refuse_changed
from referee.service.evidence.facts_read import FACTS
from referee.service.evidence.signature import read_envelope, signature_findings
from referee.service.evidence.told_facts import ToldFacts, told_facts, told_of
from referee.service.evidence.writer import BundleWriter, writer_told
from referee.service.setup.contest import Contest
from referee.service.setup.signing_key import (
    PRIVATE,
    PUBLIC,
    key_id,
    read_private_key,
    station_key,
)
from referee.store.replay import strands_of
from referee.store.sessions import load_session


class Kind(Enum):
    """What is to be done about a file."""

    ABSENT = "absent"
    """There is none: write it."""
    KEPT = "kept"
    """It is what the session gives now: leave it."""
    EARLIER = "earlier"
    """It is of this session, but not what it gives now: write it again."""
    OTHER = "other"
    """It is not of this session, or nobody can tell: leave it, whatever happens."""
    AHEAD = "ahead"
    """It is of this session, and has facts that the contest's folder lacks: leave it."""


@dataclass(frozen=True)
class FileStatus:
    """What a file is, and why, in words; '' if there is nothing to say."""

    kind: Kind
    why: str = ""


def standing_of(
    contest: Contest,
    session_id: int,
    path: Path,
    tell: Callable[[str], object] = refuse_changed,
) -> FileStatus:
    """Return what a file is beside a session's facts as they are now.

    `tell` gets a sentence about each row that was changed; by default that is a `Refusal` (code
    `facts_changed`). Raises `Refusal` (code `session_unknown`).
    """
    with contest.database.read() as connection:
        load_session(connection, session_id)
    if not path.exists() and not path.is_symlink():
        return FileStatus(Kind.ABSENT)
    try:
        facts = told_facts(path)
    except NotABundle as error:
        finding = error.finding
        where = f"{finding.member}: " if finding.member else ""
        return FileStatus(Kind.OTHER, f"nothing in it says whose it is. {where}{finding.what}")
    with contest.database.read() as connection:  # Behind the file: another export may write it now.
        other = _other(facts, session_id, strands_of(connection, session_id))
    if other is not None:
        return other
    fault = _fault_of_kept(contest, session_id, path, tell)
    if fault is None:
        return FileStatus(Kind.KEPT)
    signers = _other_signers(contest, path)
    if signers:
        return FileStatus(Kind.OTHER, f"{fault}, and key {signers[0][:16]} has signed it as it is")
    return FileStatus(Kind.EARLIER, fault)


def fault_of_own(contest: Contest, session_id: int, path: Path) -> str | None:
    """Return why a file is no bundle of a session of this event, or None if it is one.

    Its facts and its signature are looked at, not whether it is up to date, so it costs little.
    """
    public = contest.config.path.parent / PUBLIC
    try:
        with opened_bundle(path) as file:
            signed = read_as_signed(file, (FACTS,), [public] if public.exists() else [])
        facts = told_of(signed.members[FACTS])
    except NotABundle as error:
        finding = error.finding
        return f"{finding.member}: {finding.what}" if finding.member else finding.what
    except KeyError:
        return "It has no facts."
    with contest.database.read() as connection:
        other = _other(facts, session_id, strands_of(connection, session_id))
    return None if other is None else f"{other.why[0].upper()}{other.why[1:]}."


def free_path(contest: Contest, session_id: int, folder: Path) -> Path:
    """Return where a session's bundle may be written in a folder: no other one lies there.

    Raises `Refusal` (code `file_exists`) if even the name that no other session gives is taken.
    """
    for path in (folder / bundle_name(session_id), folder / own_name(contest, session_id)):
        standing = standing_of(contest, session_id, path)
        if standing.kind not in (Kind.OTHER, Kind.AHEAD):
            return path
    raise Refusal("file_exists", f"{path} is there, and stays: {standing.why.rstrip('.')}.")


def _other(facts: ToldFacts, session_id: int, strands: list[str]) -> FileStatus | None:
    """Return why a file is not this session's to replace, or None if it is."""
    mine = facts.strands
    if mine == strands[: len(mine)]:
        return None
    whose = f"session {facts.session} of '{facts.team}', made {moment_text(facts.created_utc)}"
    if mine[: len(strands)] == strands:
        more = len(mine) - len(strands)
        return FileStatus(
            Kind.AHEAD,
            f"it has facts that this folder lacks, {more} of {whose}: the folder was restored from "
            "an older copy",
        )
    if mine[0] == strands[0]:
        return FileStatus(
            Kind.OTHER, f"it is {whose}, whose later facts are not those of session {session_id}"
        )
    return FileStatus(Kind.OTHER, f"it is another session: {whose}")


def _fault_of_kept(
    contest: Contest,
    session_id: int,
    path: Path,
    tell: Callable[[str], object],
) -> str | None:
    """Return why a file is not a session's bundle, as its facts are now; None if it is.

    Every byte of the file is read, each member is made again from the facts, and their hashes are
    compared. A bundle by another version of the referee, or with a judge's signature, holds too.
    """
    try:
        members = read_members(path, MEMBERS)
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
    writer = replace(writer_told(members), version=manifest["referee_version"])
    other = _other_members(contest, session_id, manifest, writer, tell)
    return f"{', '.join(other)}: there are newer facts" if other else None


def _is_signed(contest: Contest, manifest: Mapping[str, object]) -> bool:
    """Tell whether the event's key has signed a bundle; a copy of a folder may lack the key."""
    key = contest.config.storage.folder / PRIVATE
    if not key.exists():
        return True
    envelope = manifest["envelope"]
    return envelope is not None and read_envelope(envelope).is_signed_by(
        read_private_key(key).public_key()
    )


def _other_signers(contest: Contest, path: Path) -> list[str]:
    """Return the keys that have signed a whole bundle beside the event's own, such as a judge's.

    To write the bundle again would lose what only they can give.
    """
    private = contest.config.storage.folder / PRIVATE
    if private.exists():
        own_key: str | None = key_id(read_private_key(private).public_key())
    else:
        own_key = station_key(contest.config.path)
    try:
        with opened_bundle(path) as file:
            signers = read_as_signed(file, MEMBERS).signers
    except NotABundle:
        return []
    return [key for key in signers if key != own_key]


def _other_members(
    contest: Contest,
    session_id: int,
    manifest: Mapping[str, Any],
    writer: BundleWriter,
    tell: Callable[[str], object],
) -> list[str]:
    """Return the members that the facts give otherwise, or not at all, or only now."""
    digests = {}
    with contest.database.read() as connection:
        session = load_session(connection, session_id)
        for name, blocks in members_of(contest, session, tell, writer).items():
            digest = sha256()
            for block in blocks:
                digest.update(block)
            digests[name] = digest.hexdigest()
    listed = manifest["sha256"]
    return sorted(
        member for member in {*digests, *listed} if digests.get(member) != listed.get(member)
    )
