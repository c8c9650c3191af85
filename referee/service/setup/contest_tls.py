# SPDX-License-Identifier: Apache-2.0
"""TLS of the contestants' servers: whether its files can be used, and how to open it both ways.

Every program imports this, and few contests speak TLS. So what reads certificates comes on use.
"""

from __future__ import annotations

import ipaddress
import ssl
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from referee.errors import ConfigError
from referee.service.setup.config import TlsFiles

C = TypeVar("C", bound=ssl.SSLContext)

OWN_NAME = "referee.internal"
"""The name that each certificate of the referee's own has, beside addresses.

A TLS library of an old board, as mbedTLS 2.28 is, compares names alone: an address in a certificate
is nothing to it. Such a board connects to the address and checks this name. Nobody need resolve it:
`.internal` is reserved for networks of one's own.
"""

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
        if _is_address(host):
            return str(ipaddress.ip_address(host)) in self.names
        return host in self.names or f"*.{host.partition('.')[2]}" in self.names


def usable_certificate(files: TlsFiles, now: datetime) -> Certificate:
    """Return what the certificate says.

    Raises `ConfigError` if a file cannot be read, if others may read the key, if the key is that of
    another certificate, if a certificate of the chain does not hold now, or if a client that trusts
    the CA would refuse it.
    """
    from referee.service.setup import pem_certificates as pem

    chain = pem.valid_certificates(files.certificate, now)
    if not pem.is_key_of(files.key, chain[0]):
        raise ConfigError(
            f"{files.key} is not the key of {files.certificate}, whose first certificate must be "
            "the server's. Put the two that belong together there."
        )
    if files.ca is not None:
        pem.valid_certificates(files.ca, now)
    _require_agreement(files)
    return Certificate(pem.names_of(chain[0]), min(one.not_valid_after_utc for one in chain))


def ca_words(files: TlsFiles | None) -> str:
    """Return what the teams are told of the CA's file: name and SHA-256; '' without one."""
    if files is None or files.ca is None:
        return ""
    from referee.service.setup import pem_certificates as pem

    digest = pem.sha256_of(pem.certificates(files.ca)[0])
    return f"{files.ca.name}, SHA-256 {digest.hex(':').upper()}"


def name_to_check(files: TlsFiles | None) -> str:
    """Return the name by which a board that knows no addresses checks the certificate, or ''."""
    if files is None:
        return ""
    from referee.service.setup import pem_certificates as pem

    names = pem.names_of(pem.certificates(files.certificate)[0])
    if OWN_NAME in names:
        return OWN_NAME
    hosts = (one for one in sorted(names) if not one.startswith("*.") and one != "localhost")
    return next((one for one in hosts if not _is_address(one)), "")


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


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
    from referee.service.setup import pem_certificates as pem

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.load_verify_locations(cadata=pem.text_of(pem.certificates(files.certificate)[0]))
    if files.ca is not None:
        context.load_verify_locations(files.ca)
    return context


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
