# SPDX-License-Identifier: Apache-2.0
"""A certificate for the contestants' servers, from a CA of the event's own."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from power.bounded_file import SMALL_BYTES, file_bytes
from referee.errors import ConfigError, InputError
from referee.service.setup.config import TlsFiles
from referee.service.setup.contest_tls import OWN_NAME
from referee.service.setup.private_key import key_text, read_key
from referee.service.setup.whole_files import replace_file, write_once

_CA, _SERVER = "contest_ca", "contest_tls"
# A board without a battery for its clock wakes up in the past, so both begin early. Apple's systems
# refuse a server's certificate of more than 825 days.
_EARLY = timedelta(days=400)
_SERVER_HOLDS = timedelta(days=400)
_CA_HOLDS = timedelta(days=3650)
_NAME_MOST = 64  # of a common name (RFC 5280, appendix A.1)
_LABEL = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST = re.compile(rf"(?=.{{1,253}}$)(\*\.)?({_LABEL}\.)*(?![0-9]+$){_LABEL}")


def make_certificate(folder: Path, beside: Path, hosts: Sequence[str], now: datetime) -> TlsFiles:
    """Write a new certificate for hosts and IP addresses, and its key; return the paths.

    It names `OWN_NAME` too, for boards that know no addresses in a certificate. The keys lie in the
    folder with mode 600, the certificates beside the file `beside`. The CA is made once, so the
    teams keep its file while the server's certificate changes. Raises `InputError` for a host that
    is none, and `ConfigError` for half a CA.
    """
    names = [_name(host) for host in dict.fromkeys([*hosts, OWN_NAME])]
    ca_path, ca_key_path = beside.parent / f"{_CA}.pem", folder / f"{_CA}.key"
    if ca_path.exists() != ca_key_path.exists():
        there, missing = (ca_path, ca_key_path) if ca_path.exists() else (ca_key_path, ca_path)
        raise ConfigError(
            f"{there} is there, and {missing} is not. Restore it, or move {there} away for a new "
            "CA; the teams then need its file."
        )
    if not ca_path.exists():
        _make_ca(ca_path, ca_key_path, now)
    ca_key = read_key(ca_key_path)
    try:
        ca = x509.load_pem_x509_certificate(file_bytes(ca_path, SMALL_BYTES))
    except ValueError as error:
        raise ConfigError(f"{ca_path} holds no certificate in PEM: {error}.") from None
    if not isinstance(ca_key, ec.EllipticCurvePrivateKey) or ca_key.public_key() != ca.public_key():
        raise ConfigError(f"{ca_key_path} is not the key of {ca_path}. Restore one of them.")
    key = ec.generate_private_key(ec.SECP256R1())
    made = _server(key, hosts[0], names, ca, now).sign(ca_key, hashes.SHA256())
    files = TlsFiles(beside.parent / f"{_SERVER}.pem", folder / f"{_SERVER}.key", ca_path)
    replace_file(files.key, key_text(key), 0o600)
    replace_file(files.certificate, _pem(made), 0o644)
    return files


def _make_ca(path: Path, key_path: Path, now: datetime) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"LPIRC referee {now:%Y-%m-%d}")])
    made = (
        _begun(key, name, now, _CA_HOLDS)
        .issuer_name(name)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .sign(key, hashes.SHA256())
    )
    write_once(key_path, key_text(key))
    replace_file(path, _pem(made), 0o644)


def _server(
    key: ec.EllipticCurvePrivateKey,
    first: str,
    names: Sequence[x509.GeneralName],
    ca: x509.Certificate,
    now: datetime,
) -> x509.CertificateBuilder:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, first[:_NAME_MOST])])
    issuer = ca.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    authority = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(issuer)
    return (
        _begun(key, name, now, min(_SERVER_HOLDS, ca.not_valid_after_utc - now))
        .issuer_name(ca.subject)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(authority, critical=False)
    )


def _begun(
    key: ec.EllipticCurvePrivateKey, name: x509.Name, now: datetime, holds: timedelta
) -> x509.CertificateBuilder:
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _EARLY)
        .not_valid_after(now + holds)
        .add_extension(identifier, critical=False)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host.strip("[]")))
    except ValueError:
        if _HOST.fullmatch(host) is None:
            raise InputError(f"'{host}' is neither a host name nor an IP address.") from None
    return x509.DNSName(host)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
