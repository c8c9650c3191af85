# SPDX-License-Identifier: Apache-2.0
"""Adding a signature to a bundle that exists."""

from __future__ import annotations

from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from referee.errors import InputError
from referee.service.evidence.as_signed import hash_findings, read_manifest
from referee.service.evidence.bundle_file import MANIFEST, NotABundle, read_members
from referee.service.evidence.encoding import json_bytes
from referee.service.evidence.signature import envelope_of, read_envelope, signature_findings
from referee.service.evidence.zip_writer import zip_written_whole


def add_signature(path: Path, key: Ed25519PrivateKey, expected: tuple[str, ...]) -> bool:
    """Sign the members of a bundle; return False if this key has signed them already.

    A bundle without signatures gets an envelope. Raises `InputError` for a file that is no bundle,
    or whose members are not those of its manifest or of its earlier signatures.
    """
    try:
        members = read_members(path, expected)
        manifest = read_manifest(members)
        wrong = [*hash_findings(members, manifest), *signature_findings(manifest, ())]
    except NotABundle as error:
        wrong = [error.finding]
    if wrong:
        raise InputError(f"{path}, {wrong[0].member or 'the file'}: {wrong[0].what} Not signed.")
    stored = manifest["envelope"]
    envelope = envelope_of(manifest) if stored is None else read_envelope(stored)
    if envelope.is_signed_by(key.public_key()):
        return False
    members[MANIFEST] = json_bytes(manifest | {"envelope": envelope.signed(key).to_json()})
    with zip_written_whole(path) as bundle:
        for name in sorted(members, key=lambda name: (name == MANIFEST, name)):
            bundle.add(name, [members[name]])
    return True
