# SPDX-License-Identifier: Apache-2.0
"""The event's Ed25519 key: the private part stays in the contest's folder, the other is public."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from power.bounded_file import SMALL_BYTES, file_bytes
from referee.errors import ConfigError, InputError
from referee.service.setup.private_key import key_text, read_key
from referee.service.setup.whole_files import write_once

PRIVATE, PUBLIC = "signing.key", "signing.pub"

_PEM = serialization.Encoding.PEM


def ensure_signing_key(folder: Path, beside: Path) -> Path:
    """Make the key in a contest's folder unless it is there; return the path of its public part.

    The public part lies beside the file `beside`, the configuration. Raises `ConfigError` if others
    may read the private part, or if the public part belongs to another key: a new key could not
    confirm what the old one has signed.
    """
    private, public = folder / PRIVATE, beside.parent / PUBLIC
    require_one_key(folder, beside)
    if not private.exists():
        make_key(private)
    if not public.exists():
        write_once(public, public_text(read_private_key(private).public_key()))
    return public


def require_one_key(folder: Path, beside: Path) -> None:
    """Raise `ConfigError` where `ensure_signing_key` does; nothing is made."""
    private, public = folder / PRIVATE, beside.parent / PUBLIC
    if not private.exists():
        if public.exists():
            raise ConfigError(
                f"{public} is there, and its private part {private} is not. Restore it, or move "
                f"{public} away; bundles of before then need the old {PUBLIC}."
            )
        return
    text = public_text(read_private_key(private).public_key())
    if public.exists() and public.read_bytes() != text:
        raise ConfigError(f"{public} is not the public part of {private}. Restore one of them.")


def make_key(path: Path) -> None:
    """Write a new private key with mode 600, unless the file exists; never half a file."""
    write_once(path, key_text(Ed25519PrivateKey.generate()))


def read_private_key(path: Path) -> Ed25519PrivateKey:
    """Return a private key; raise `ConfigError` if others may read it, or if it is none."""
    key = read_key(path)
    if not isinstance(key, Ed25519PrivateKey):
        raise ConfigError(f"{path} is a key of another kind: it must be Ed25519.")
    return key


def read_public_key(path: Path) -> Ed25519PublicKey:
    """Return a public key; raise `InputError` for another file."""
    try:
        key = serialization.load_pem_public_key(file_bytes(path, SMALL_BYTES))
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}).") from None
    except (ValueError, UnsupportedAlgorithm) as error:
        raise InputError(f"{path} is no public key in PEM: {error}.") from None
    if not isinstance(key, Ed25519PublicKey):
        raise InputError(f"{path} is a key of another kind: it must be Ed25519.")
    return key


def station_key(config: Path) -> str | None:
    """Return the key by which other programs know the event of a configuration, or None.

    It is the `key_id` of the public part beside the configuration, which bundles carry too.
    """
    path = config.parent / PUBLIC
    return key_id(read_public_key(path)) if path.exists() else None


def public_text(key: Ed25519PublicKey) -> bytes:
    """Return a public key as PEM."""
    return key.public_bytes(_PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def key_id(key: Ed25519PublicKey) -> str:
    """Return the SHA-256 of a public key's 32 bytes, in hex."""
    raw = key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return sha256(raw).hexdigest()
