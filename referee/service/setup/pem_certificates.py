# SPDX-License-Identifier: Apache-2.0
"""Certificates in PEM files: whether they hold now, whom they name, and which key is theirs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization

from power.bounded_file import SMALL_BYTES, file_bytes
from referee.errors import ConfigError
from referee.service.setup.private_key import read_key


def certificates(path: Path) -> Sequence[x509.Certificate]:
    """Return the certificates of a file; raise `ConfigError` if there is none."""
    try:
        return x509.load_pem_x509_certificates(file_bytes(path, SMALL_BYTES))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read ({error.strerror}).") from None
    except ValueError as error:
        raise ConfigError(f"{path} holds no certificate in PEM: {error}.") from None


def valid_certificates(path: Path, now: datetime) -> Sequence[x509.Certificate]:
    """Return the certificates of a file; raise `ConfigError` too if one does not hold now."""
    valid = certificates(path)
    for certificate in valid:
        _require_valid(path, certificate, now)
    return valid


def is_key_of(path: Path, certificate: x509.Certificate) -> bool:
    """Tell whether a file has the private key of a certificate; only its owner may read it."""
    return _public(read_key(path)) == _public(certificate)


def text_of(certificate: x509.Certificate) -> str:
    """Return a certificate as PEM."""
    return certificate.public_bytes(serialization.Encoding.PEM).decode("ascii")


def sha256_of(certificate: x509.Certificate) -> bytes:
    """Return a certificate's digest, as OpenSSL tells it."""
    return certificate.fingerprint(hashes.SHA256())


def names_of(certificate: x509.Certificate) -> frozenset[str]:
    """Return the names that clients compare; they do not look at the common name."""
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return frozenset()
    hosts = [name.lower() for name in names.get_values_for_type(x509.DNSName)]
    return frozenset([*hosts, *map(str, names.get_values_for_type(x509.IPAddress))])


def _require_valid(path: Path, certificate: x509.Certificate, now: datetime) -> None:
    if now > certificate.not_valid_after_utc:
        raise ConfigError(
            f"{path}: a certificate has expired on "
            f"{certificate.not_valid_after_utc:%Y-%m-%d %H:%M} UTC. "
            "Get a new one, or make one with 'referee certificate'."
        )
    if now < certificate.not_valid_before_utc:
        raise ConfigError(
            f"{path}: a certificate is not valid before "
            f"{certificate.not_valid_before_utc:%Y-%m-%d %H:%M} UTC, "
            f"and this clock says {now:%Y-%m-%d %H:%M} UTC. Is the clock right?"
        )


def _public(key: object) -> bytes:
    public = key.public_key()  # type: ignore[attr-defined]
    content: bytes = public.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return content
