# SPDX-License-Identifier: Apache-2.0
"""Adding a signature to a bundle that exists."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from referee.errors import InputError
from referee.service.evidence.bundle_file import (
    MANIFEST,
    SIGNATURE,
    Finding,
    NotABundle,
    read_members,
)
from referee.service.evidence.signature import (
    Envelope,
    envelope_of,
    read_envelope,
    statement_findings,
)
from referee.service.evidence.verify import hash_findings, read_manifest
from referee.service.evidence.zip_writer import zip_written_whole


def add_signature(path: Path, key: Ed25519PrivateKey, expected: tuple[str, ...]) -> bool:
    """Sign the members of a bundle; return False if this key has signed them already.

    A bundle without signatures gets an envelope. Raises `InputError` for a file that is no bundle,
    or whose members are not those of its manifest or of its earlier signatures.
    """
    try:
        members = read_members(path, expected)
        envelope, wrong = _envelope(members)
    except NotABundle as error:
        wrong = [error.finding]
    if wrong:
        raise InputError(f"{path}, {wrong[0].member or 'the file'}: {wrong[0].what} Not signed.")
    if envelope.is_signed_by(key.public_key()):
        return False
    members[SIGNATURE] = envelope.signed(key).to_bytes()
    with zip_written_whole(path) as bundle:
        for name in sorted(members.keys() - {MANIFEST, SIGNATURE}):
            bundle.add(name, [members[name]])
        for name in (MANIFEST, SIGNATURE):
            bundle.add(name, [members[name]])
    return True


def _envelope(members: dict[str, bytes]) -> tuple[Envelope, list[Finding]]:
    """Return what is to be signed, and what forbids it."""
    manifest = read_manifest(members)
    wrong = list(hash_findings(members, manifest))
    if SIGNATURE in members:
        envelope = read_envelope(members[SIGNATURE])
        return envelope, [*wrong, *statement_findings(envelope, members)]
    digests = {name: sha256(content).hexdigest() for name, content in members.items()}
    return envelope_of(manifest["session"], digests), wrong
