# SPDX-License-Identifier: Apache-2.0
"""Certificates and keys of every kind, good and bad, for tests of TLS."""

from __future__ import annotations

import ssl
from datetime import datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from referee.service.setup.config import TlsFiles
from referee.service.setup.private_key import key_text

DAY = timedelta(days=1)


def self_signed(
    folder: Path,
    now: datetime,
    *,
    begins: timedelta = -DAY,
    ends: timedelta = DAY,
    usages: tuple[x509.ObjectIdentifier, ...] = (ExtendedKeyUsageOID.SERVER_AUTH,),
) -> TlsFiles:
    """Write a certificate for 127.0.0.1 and *.example.org that has signed itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    names = [x509.IPAddress(ip_address("127.0.0.1")), x509.DNSName("*.Example.org")]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + begins)
        .not_valid_after(now + ends)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        .sign(key, hashes.SHA256())
    )
    folder.mkdir(exist_ok=True)
    files = TlsFiles(folder / "server.pem", folder / "server.key")
    files.certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    files.key.write_bytes(key_text(key))
    files.key.chmod(0o600)
    return files


def trusting(ca: Path | None) -> ssl.SSLContext:
    """Return the context of a client that trusts a CA."""
    return ssl.create_default_context(cafile=ca)
