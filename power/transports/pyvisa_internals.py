# SPDX-License-Identifier: Apache-2.0
"""What we use of pyvisa-py beyond the interface of PyVISA: every such name, and why, is here.

pyvisa-py 0.8 has faults in VXI-11 that only its insides can mend. A later version may mend them and
rename its insides. Then `missing` names what is gone, and each function does without it.
"""

from __future__ import annotations

import select
import socket
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any


@dataclass(frozen=True)
class Internal:
    """A name or a text within pyvisa-py, and what fails when it is gone."""

    name: str
    without: str

    def __str__(self) -> str:
        return f"{self.name}: without it {self.without}"


SESSIONS = Internal(
    "pyvisa_py.highlevel.PyVisaLibrary.sessions",
    "nothing below is found, and all of it fails",
)
INTERFACE = Internal(
    "pyvisa_py.tcpip.TCPIPInstrVxi11.interface",
    "the connection below is not found, and all of it fails",
)
SOCK = Internal(
    "pyvisa_py.protocols.rpc.RawTCPClient.sock",
    "a meter that has closed the link is noticed a second after the time-out instead of at once",
)
DESTROY_LINK = Internal(
    "pyvisa_py.protocols.vxi11.CoreClient.destroy_link",
    "the closing of a lost link takes 5 s",
)
CLOSE = Internal(
    "pyvisa_py.protocols.rpc.RawTCPClient.close",
    "a lost link stays open, and a meter that takes one connection refuses the next",
)
REFUSAL = Internal(
    "the text 'error creating link: CODE' of pyvisa_py.tcpip.TCPIPInstrVxi11.after_parsing",
    "a meter in use is reported as one that cannot be opened",
)
LEFT_SOCKET = Internal(
    "the local 'self' of the frames of pyvisa_py.tcpip.TCPIPInstrVxi11.after_parsing",
    "a refused link stays half open, and a meter that takes one connection refuses the next",
)

INTERNALS = (SESSIONS, INTERFACE, SOCK, DESTROY_LINK, CLOSE, REFUSAL, LEFT_SOCKET)
"""All that we use."""

_REFUSAL_TEXT = "error creating link: "


def missing(resource: Any) -> list[Internal]:
    """Return what an open VXI-11 link lacks; another backend than pyvisa-py lacks nothing.

    The last two of `INTERNALS` show at a refusal alone, so they are not looked for here.
    """
    if not type(resource.visalib).__module__.startswith("pyvisa_py"):
        return []
    interface = _interface(resource)
    looks: dict[Internal, Callable[[], bool]] = {
        SESSIONS: lambda: resource.session in getattr(resource.visalib, "sessions", {}),
        INTERFACE: lambda: interface is not None,
        SOCK: lambda: isinstance(getattr(interface, "sock", None), socket.socket),
        DESTROY_LINK: lambda: callable(getattr(interface, "destroy_link", None)),
        CLOSE: lambda: callable(getattr(interface, "close", None)),
    }
    return [internal for internal, is_there in looks.items() if not is_there()]


def peer_has_closed(resource: Any) -> bool:
    """Tell whether the other side of a VXI-11 connection has ended it; False on other wires.

    pyvisa-py 0.8 does not notice this. It spins until a second after the time-out.
    """
    sock = getattr(_interface(resource), "sock", None)
    if not isinstance(sock, socket.socket):
        return False
    readable, _, _ = select.select([sock], [], [], 0)
    return bool(readable) and not sock.recv(1, socket.MSG_PEEK)


def forget_link(resource: Any) -> None:
    """Let the closing of a lost VXI-11 link ask the meter nothing.

    pyvisa-py would wait 5 s for an answer that may never come. Closing the connection is enough: a
    VXI-11 server then drops the link.
    """
    interface = _interface(resource)
    if hasattr(interface, "destroy_link"):
        interface.destroy_link = lambda link: 0


def connection_closer(resource: Any) -> Callable[[], object]:
    """Return what closes our side of a link whose other side does not answer any more.

    Ask for it before the resource is closed: a resource whose closing has failed has no session.
    """
    close: Callable[[], object] | None = getattr(_interface(resource), "close", None)
    return close or (lambda: None)


def refusal_code(error: Exception) -> str | None:
    """Return the VXI-11 error (rev. 1.0, section B.5.2) of a refused link, None of other errors.

    pyvisa-py 0.8 reports a refused link as a bare Exception with a text.
    """
    text = str(error).strip()
    return text.removeprefix(_REFUSAL_TEXT) if text.startswith(_REFUSAL_TEXT) else None


def close_left_sockets(trace: TracebackType | None) -> int:
    """Close the sockets that a failed open left behind, and return their number.

    pyvisa-py 0.8 leaves one open when the instrument refuses the link. A meter that takes one
    connection would then refuse the next attempt.
    """
    left: set[socket.socket] = set()
    while trace is not None:
        owner = trace.tb_frame.f_locals.get("self")
        for holder in (owner, getattr(owner, "interface", None)):
            sock = getattr(holder, "sock", None)
            if isinstance(sock, socket.socket) and sock.fileno() >= 0:
                left.add(sock)
        trace = trace.tb_next
    for sock in left:
        sock.close()
    return len(left)


def _interface(resource: Any) -> Any:
    """Return the VXI-11 client of an open resource, or None."""
    sessions = getattr(resource.visalib, "sessions", {})
    return getattr(sessions.get(resource.session), "interface", None)
