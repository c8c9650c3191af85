# SPDX-License-Identifier: Apache-2.0
"""Is this what was signed? Whoever reads a bundle asks it here, before anything else is read.

The file is as the referee writes it (`zip_layout.py`), the manifest lists its members and no
others, each member that is read has the hash of the manifest, and the signed statement says the
same as the manifest. All of that needs no key. With keys the signature is checked too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from referee.service.evidence.bundle_file import (
    MANIFEST,
    Mismatch,
    NotABundle,
    contents_of,
    members_in,
    read_digests,
)
from referee.service.evidence.differences import text_difference
from referee.service.evidence.encoding import json_bytes
from referee.service.evidence.signature import read_envelope, signature_findings
from referee.service.setup.signing_key import key_id, read_public_key


@dataclass(frozen=True)
class AsSigned:
    """What was read of a bundle, all of it as it was signed.

    `sizes` has the length of every member, `signers` the ids of the keys that the bundle names as
    its signers. `checked` is the id of the wanted key that has signed it, None where no key was
    given.
    """

    manifest: Mapping[str, Any]
    members: Mapping[str, bytes]
    sizes: Mapping[str, int]
    signers: Sequence[str]
    checked: str | None


def read_as_signed(
    file: IO[bytes], names: Collection[str], any_of: Sequence[Path] = ()
) -> AsSigned:
    """Return the members of a bundle that are named; a name that is not there is left out.

    With `any_of` one of these public keys must have signed it. Raises `NotABundle` with the first
    thing that is not as it was signed, and `InputError` for a file that is no public key.
    """
    there = members_in(file)
    read = contents_of(file, [one for one in there if one.name in {MANIFEST, *names}])
    manifest = read_manifest(read)
    checked = _signer_among(manifest, any_of)
    listed = {one.name for one in there}
    for finding in (*signature_findings(manifest, ()), *hash_findings(read, manifest, listed)):
        raise NotABundle(finding.member, finding.what)
    envelope = manifest["envelope"]
    signers = [] if envelope is None else sorted(read_envelope(envelope).signatures)
    sizes = {one.name: one.size for one in there}
    return AsSigned(manifest, read, sizes, signers, checked)


def read_manifest(members: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the manifest; raise `NotABundle` for one that is none."""
    if MANIFEST not in members:
        raise NotABundle(MANIFEST, "The member is missing.")
    digests = read_digests(members)
    envelope = digests.envelope
    read = {
        "session": digests.session,
        "referee_version": digests.referee_version,
        "sha256": dict(sorted(digests.sha256.items())),
    }
    whole = read if envelope is None else read | {"envelope": envelope}
    other = text_difference(members[MANIFEST], json_bytes(whole))
    if other is not None:
        raise NotABundle(MANIFEST, f"It is not written as the referee writes it: {other}.")
    return read | {"envelope": envelope}


def hash_findings(
    members: Mapping[str, bytes], manifest: Mapping[str, Any], there: Collection[str] | None = None
) -> Iterator[Mismatch]:
    """Compare each member that was read with its hash in the manifest, and the names with its list.

    `there` are the names of all members of the file, where not all of them were read.
    """
    listed, names = manifest["sha256"], set(members if there is None else there) - {MANIFEST}
    for name in sorted(members.keys() - {MANIFEST}):
        found, expected = sha256(members[name]).hexdigest(), listed.get(name)
        if found != expected:
            yield Mismatch(name, f"found SHA-256 {found}, expected {expected}.")
    for name in sorted(names - listed.keys() - members.keys()):
        yield Mismatch(name, "The manifest has no such member.")
    for name in sorted(listed.keys() - names):
        yield Mismatch(MANIFEST, f"It names '{name}', and the bundle has no such member.")


def _signer_among(manifest: Mapping[str, object], keys: Sequence[Path]) -> str | None:
    """Return the id of the key that signed, None without keys; raise `NotABundle` if none did."""
    for key in keys:
        if not list(signature_findings(manifest, [key])):
            return key_id(read_public_key(key))
    if keys:
        raise NotABundle(MANIFEST, "None of the given public keys has signed it.")
    return None
