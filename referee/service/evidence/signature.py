# SPDX-License-Identifier: Apache-2.0
"""The signatures of a bundle: a DSSE envelope around an in-toto statement about its members.

The envelope (https://github.com/secure-systems-lab/dsse) signs the statement's bytes as they are,
so no canonical form of JSON is needed. It has room for several signatures: that of the event, and
that of a judge.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from referee.service.evidence.bundle_file import SIGNATURE, Finding, NotABundle
from referee.service.evidence.encoding import json_bytes
from referee.service.setup.signing_key import key_id, read_public_key

_TYPE = "application/vnd.in-toto+json"
_STATEMENT = "https://in-toto.io/Statement/v1"
_PREDICATE = "urn:lpirc:evidence:v1"


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
        """Tell whether one of the signatures is by this key; the id is only a hint."""
        for signature in self.signatures.values():
            try:
                key.verify(signature, _pre_authentication(self.payload))
                return True
            except InvalidSignature:
                continue
        return False

    def to_bytes(self) -> bytes:
        """Return the envelope as the member's content."""
        return json_bytes(
            {
                "payloadType": _TYPE,
                "payload": b64encode(self.payload).decode("ascii"),
                "signatures": [
                    {"keyid": name, "sig": b64encode(it).decode("ascii")}
                    for name, it in sorted(self.signatures.items())
                ],
            }
        )


def envelope_of(session_id: int, digests: Mapping[str, str]) -> Envelope:
    """Return an unsigned envelope about members with these SHA-256 in hex."""
    statement = {
        "_type": _STATEMENT,
        "subject": [
            {"name": name, "digest": {"sha256": digests[name]}} for name in sorted(digests)
        ],
        "predicateType": _PREDICATE,
        "predicate": {"session": session_id},
    }
    return Envelope(json_bytes(statement), {})


def read_envelope(content: bytes) -> Envelope:
    """Return the envelope of a bundle; raise `NotABundle` for content of another kind."""
    try:
        told = json.loads(content)
        if told["payloadType"] != _TYPE:
            raise ValueError(f"its payload is of the type {told['payloadType']!r}")
        signatures = {
            str(it["keyid"]): b64decode(it["sig"], validate=True) for it in told["signatures"]
        }
        return Envelope(b64decode(told["payload"], validate=True), signatures)
    except (ValueError, KeyError, TypeError) as error:
        raise NotABundle(SIGNATURE, f"It is no DSSE envelope: {error!r}.") from None


def statement_findings(envelope: Envelope, members: Mapping[str, bytes]) -> Iterator[Finding]:
    """Compare what was signed with the members as they are."""
    try:
        told: dict[str, Any] = json.loads(envelope.payload)
        signed = {str(it["name"]): str(it["digest"]["sha256"]) for it in told["subject"]}
        if (told["_type"], told["predicateType"]) != (_STATEMENT, _PREDICATE):
            raise ValueError("another type of statement")
    except (ValueError, KeyError, TypeError) as error:
        raise NotABundle(SIGNATURE, f"What was signed is no statement: {error!r}.") from None
    for name in sorted((members.keys() | signed.keys()) - {SIGNATURE}):
        found = sha256(members[name]).hexdigest() if name in members else "no member"
        if found != signed.get(name):
            yield Finding(name, f"found SHA-256 {found}, signed was {signed.get(name)}.")


def signature_findings(members: Mapping[str, bytes], keys: Sequence[Path]) -> Iterator[Finding]:
    """Check that each of these public keys has signed the members as they are.

    Raises `InputError` for a file that is no public key.
    """
    wanted = [(path, read_public_key(path)) for path in keys]
    if SIGNATURE not in members:
        for path, _ in wanted:
            yield Finding(SIGNATURE, f"The bundle is not signed, and {path} is given.")
        return
    envelope = read_envelope(members[SIGNATURE])
    if envelope.to_bytes() != members[SIGNATURE]:
        yield Finding(SIGNATURE, "It is not written as the referee writes it.")
    yield from statement_findings(envelope, members)
    for path, key in wanted:
        if not envelope.is_signed_by(key):
            yield Finding(SIGNATURE, f"No signature in it is by {path} (key {key_id(key)[:16]}).")


def _pre_authentication(payload: bytes) -> bytes:
    """Return what is signed: the type and the payload, each with its length."""
    kind = _TYPE.encode("ascii")
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)
