# SPDX-License-Identifier: Apache-2.0
"""The signatures of a bundle: a DSSE envelope around an in-toto statement about its members.

The envelope (https://github.com/secure-systems-lab/dsse) signs the statement's bytes as they are,
so no canonical form of JSON is needed. It has room for several signatures: that of the event, and
that of a judge.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)

from referee.service.evidence.bundle_file import MANIFEST, NO_VALUE, Mismatch, NotABundle
from referee.service.evidence.differences import text_difference
from referee.service.evidence.encoding import json_bytes
from referee.service.setup.signing_key import key_id, read_public_key

_TYPE = "application/vnd.in-toto+json"
_STATEMENT = "https://in-toto.io/Statement/v1"
_PREDICATE = "urn:lpirc:evidence:v1"
# What is signed beside the members' hashes.
_SIGNED = ("session", "referee_version")
# A key's id is a SHA-256 in hex. It names a station, so no other text may stand there.
_KEY_ID = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class Envelope:
    """A statement as raw bytes, and its signatures by the key's id."""

    payload: bytes
    signatures: Mapping[str, bytes]

    def signed(self, key: Ed25519PrivateKey) -> Envelope:
        """Return the envelope with a signature of this key added."""
        mine = {key_id(key.public_key()): key.sign(_pre_authentication(self.payload))}
        return Envelope(self.payload, {**self.signatures, **mine})

    def is_signed_by(self, key: Ed25519PublicKey) -> bool:
        """Tell whether this key has signed the payload."""
        try:
            key.verify(self.signatures.get(key_id(key), b""), _pre_authentication(self.payload))
        except InvalidSignature:
            return False
        return True

    def to_json(self) -> dict[str, object]:
        """Return the envelope as JSON values."""
        return {
            "payloadType": _TYPE,
            "payload": b64encode(self.payload).decode("ascii"),
            "signatures": [
                {"keyid": name, "sig": b64encode(signature).decode("ascii")}
                for name, signature in sorted(self.signatures.items())
            ],
        }


def envelope_of(manifest: Mapping[str, Any]) -> Envelope:
    """Return an unsigned envelope about the members that a manifest lists."""
    digests = manifest["sha256"]
    statement = {
        "_type": _STATEMENT,
        "subject": [
            {"name": name, "digest": {"sha256": digests[name]}} for name in sorted(digests)
        ],
        "predicateType": _PREDICATE,
        "predicate": {name: manifest[name] for name in _SIGNED},
    }
    return Envelope(json_bytes(statement), {})


def read_envelope(value: Any) -> Envelope:
    """Return the envelope of a manifest; raise `NotABundle` for a value of another kind."""
    try:
        if value["payloadType"] != _TYPE:
            raise ValueError(f"its payload is of the type {value['payloadType']!r}")
        signatures = {
            str(signature["keyid"]): b64decode(signature["sig"], validate=True)
            for signature in value["signatures"]
        }
        if not all(map(_KEY_ID.fullmatch, signatures)):
            raise ValueError("a key's id is no SHA-256 in hex")
        return Envelope(b64decode(value["payload"], validate=True), signatures)
    except NO_VALUE as error:
        raise NotABundle(MANIFEST, f"Its envelope is none of DSSE: {error!r}.") from None


def signature_findings(manifest: Mapping[str, Any], keys: Sequence[Path]) -> Iterator[Mismatch]:
    """Check that what was signed is the manifest as it is, and that each of these keys signed it.

    Raises `InputError` for a file that is no public key.
    """
    wanted = [(path, read_public_key(path)) for path in keys]
    if manifest["envelope"] is None:
        for path, _ in wanted:
            yield Mismatch(MANIFEST, f"The bundle is not signed, and {path} is given.")
        return
    envelope = read_envelope(manifest["envelope"])
    difference = text_difference(envelope.payload, envelope_of(manifest).payload)
    if difference is not None:
        yield Mismatch(MANIFEST, f"It is not what was signed: the statement's {difference}.")
    for path, key in wanted:
        if not envelope.is_signed_by(key):
            yield Mismatch(MANIFEST, f"No signature in it is by {path} (key {key_id(key)[:16]}).")


def _pre_authentication(payload: bytes) -> bytes:
    """Return what is signed: the type and the payload, each with its length."""
    kind = _TYPE.encode("ascii")
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)
