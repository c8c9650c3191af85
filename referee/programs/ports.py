# SPDX-License-Identifier: Apache-2.0
"""Whether a port answers, or whether it is free for a server to come."""

from __future__ import annotations

import socket
import ssl

from power.http_request import NO_ANSWER, answered
from referee.core.host_port import joined
from referee.service.preflight.surroundings import PortFacts

_ANSWER_S = 3.0
_ANY = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}


def answering(name: str, address: str, tls: ssl.SSLContext | None = None) -> PortFacts:
    """Ask a running server at HOST:PORT for its page `/help`, under TLS if a context is given."""
    host, port = split(address)
    host = _ANY.get(host, host)
    url = f"{'http' if tls is None else 'https'}://{joined(host, port)}/help"
    try:
        with answered(url, timeout_s=_ANSWER_S, tls=tls) as answer:
            status = answer.status
    except NO_ANSWER as error:
        return PortFacts(name, address, f"does not answer ({error or type(error).__name__})")
    return PortFacts(name, address, "" if status < 500 else f"answers with {status}")


def free(name: str, address: str) -> PortFacts:
    """Try whether a server could listen on HOST:PORT; nobody connects meanwhile."""
    try:
        host, port = split(address)
    except ValueError:
        return PortFacts(name, address, "is not HOST:PORT")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:  # as the server will listen
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            listener.bind((host, port))
            listener.listen(1)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return PortFacts(name, address, f"cannot be used: {reason}")
    return PortFacts(name, address, "")


def split(address: str) -> tuple[str, int]:
    """Return host and port of HOST:PORT; raise ValueError for anything else."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise ValueError(f"'{address}' is not HOST:PORT")
    return host.strip("[]"), int(port)
