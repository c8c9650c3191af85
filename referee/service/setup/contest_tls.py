# SPDX-License-Identifier: Apache-2.0
"""TLS of the contestants' servers: whether its files can be used, and how to open it both ways."""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization

from referee.errors import ConfigError
from referee.service.setup.config import TlsFiles
from referee.service.setup.private_key import read_key

C = TypeVar("C", bound=ssl.SSLContext)

# A handshake is two flights each way.
_FLIGHTS_MOST = 8


@dataclass(frozen=True)
class Certificate:
    """Whom a server's certificate names, in lower case, and until when it holds."""

    names: frozenset[str]
    until: datetime

    def covers(self, host: str) -> bool:
        """Tell whether a client that connects to this host or IP address takes the certificate."""
        host = host.strip("[]").lower()
        try:
            return str(ipaddress.ip_address(host)) in self.names
        except ValueError:
            return host in self.names or f"*.{host.partition('.')[2]}" in self.names


def usable_certificate(files: TlsFiles, now: datetime) -> Certificate:
    """Return what the certificate says.

    Raises `ConfigError` if a file cannot be read, if others may read the key, if the key is that of
    another certificate, if a certificate of the chain does not hold now, or if a client that trusts
    the CA would refuse it.
    """
    chain = _certificates(files.certificate)
    for one in chain:
        _require_valid(files.certificate, one, now)
    if _public(read_key(files.key)) != _public(chain[0]):
        raise ConfigError(
            f"{files.key} is not the key of {files.certificate}, whose first certificate must be "
            "the server's. Put the two that belong together there."
        )
    if files.ca is not None:
        for one in _certificates(files.ca):
            _require_valid(files.ca, one, now)
    _require_agreement(files)
    return Certificate(_names(chain[0]), min(one.not_valid_after_utc for one in chain))


def ca_words(files: TlsFiles | None) -> str:
    """Return what the teams are told of the CA's file: name and SHA-256; '' without one."""
    if files is None or files.ca is None:
        return ""
    digest = _certificates(files.ca)[0].fingerprint(hashes.SHA256())
    return f"{files.ca.name}, SHA-256 {digest.hex(':').upper()}"


def server_context(files: TlsFiles, make: type[C]) -> C:
    """Return a server's context: TLS 1.2 or newer, without renegotiation."""
    context = make(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.load_cert_chain(files.certificate, files.key)
    context.set_alpn_protocols(["http/1.1"])
    return context


def pinned_context(files: TlsFiles) -> ssl.SSLContext:
    """Return the context of a client on this machine.

    It takes this certificate under any address, because the file itself says which server it is. It
    takes others of the CA too: a server that runs keeps the certificate that it began with.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    leaf = _certificates(files.certificate)[0].public_bytes(serialization.Encoding.PEM)
    context.load_verify_locations(cadata=leaf.decode("ascii"))
    if files.ca is not None:
        context.load_verify_locations(files.ca)
    return context


def _certificates(path: Path) -> Sequence[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(path.read_bytes())
    except OSError as error:
        raise ConfigError(f"{path} cannot be read ({error.strerror}).") from None
    except ValueError as error:
        raise ConfigError(f"{path} holds no certificate in PEM: {error}.") from None


def _require_valid(path: Path, one: x509.Certificate, now: datetime) -> None:
    if now > one.not_valid_after_utc:
        raise ConfigError(
            f"{path}: a certificate has expired on {one.not_valid_after_utc:%Y-%m-%d %H:%M} UTC. "
            "Get a new one, or make one with 'referee certificate'."
        )
    if now < one.not_valid_before_utc:
        raise ConfigError(
            f"{path}: a certificate is not valid before {one.not_valid_before_utc:%Y-%m-%d %H:%M} "
            f"UTC, and this clock says {now:%Y-%m-%d %H:%M} UTC. Is the clock right?"
        )


def _public(key: object) -> bytes:
    found = key.public_key()  # type: ignore[attr-defined]
    content: bytes = found.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return content


def _names(one: x509.Certificate) -> frozenset[str]:
    """Return the names that clients compare; they do not look at the common name."""
    try:
        names = one.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return frozenset()
    hosts = [name.lower() for name in names.get_values_for_type(x509.DNSName)]
    return frozenset([*hosts, *map(str, names.get_values_for_type(x509.IPAddress))])


def _require_agreement(files: TlsFiles) -> None:
    """Let a client that trusts the CA shake hands with the server, in memory."""
    try:
        server, pinned = server_context(files, ssl.SSLContext), pinned_context(files)
    except ssl.SSLError as error:
        raise ConfigError(f"{files.certificate} cannot be used: {_reason(error)}.") from None
    clients = {files.certificate: pinned}
    if files.ca is not None:
        clients[files.ca] = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        clients[files.ca].check_hostname = False
        clients[files.ca].load_verify_locations(files.ca)
    for trusted, client in clients.items():
        try:
            shake_hands(server, client)
        except ssl.SSLError as error:
            raise ConfigError(
                f"A client that trusts {trusted} refuses {files.certificate}: {_reason(error)}."
            ) from None


def shake_hands(server: ssl.SSLContext, client: ssl.SSLContext) -> None:
    """Let two ends shake hands in memory; raise `ssl.SSLError` if one refuses the other."""
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [client.wrap_bio(back, there), server.wrap_bio(there, back, server_side=True)]
    for _ in range(_FLIGHTS_MOST):
        for end in list(ends):
            try:
                end.do_handshake()
                ends.remove(end)
            except ssl.SSLWantReadError:
                continue
    if ends:
        raise ssl.SSLError("the handshake does not end")


def _reason(error: ssl.SSLError) -> str:
    return str(getattr(error, "verify_message", "") or error.reason or error)
