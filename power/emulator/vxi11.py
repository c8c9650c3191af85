# SPDX-License-Identifier: Apache-2.0
"""Serve the emulated meter over VXI-11: the core channel of VXI-11 revision 1.0 on loopback.

Clients name the port, or ask a `Portmapper` for it. As on the meter, one connection at a time has a
link (IM WT310E-17EN, page 4-2). A client that was killed has closed its connection: the next one
waits until what it had sent is done, and then has its link.
"""

from __future__ import annotations

import logging
import select
import socket
import threading
import time
from collections.abc import Callable

from power.emulator import rpc
from power.emulator.interpreter import Interpreter

_log = logging.getLogger(__name__)

PROGRAM, VERSION = 0x0607AF, 1
# VXI-11 device errors (section B.5.2) and flags (B.5.3, B.6.4).
NO_ERROR, NO_DEVICE, BAD_LINK, NO_RESOURCES = 0, 3, 4, 9
LOCKED, NO_LOCK, IO_TIMEOUT, IO_ERROR = 11, 12, 15, 17
END_FLAG = 8
REASON_COUNT, REASON_END = 1, 4
# The meter's replies are up to 24,576 bytes (page App-5).
MOST_RECEIVE_BYTES = 24576
_STEP_S = 0.05
# The most that a newcomer waits for the link of a client that has gone.
_LEAVING_S = 60.0


class Vxi11Server:
    """A server on 127.0.0.1 with a thread for each connection; `close` ends and joins them all.

    `guard` serialises everything that touches the meter.
    """

    def __init__(
        self,
        interpreter: Interpreter,
        guard: threading.Condition,
        *,
        port: int = 0,
    ) -> None:
        self._interpreter = interpreter
        self._guard = guard
        self._faults = interpreter.instrument.faults
        self._faults.on_unplug.append(self.drop_connections)
        self._closing = False
        self._connections: dict[socket.socket, threading.Thread] = {}
        self._links: dict[int, socket.socket] = {}
        self._partial: dict[int, bytes] = {}
        self._next_link = 1
        self._locked_by: int | None = None
        self._listener = socket.create_server(("127.0.0.1", port))
        self.port: int = self._listener.getsockname()[1]
        self._acceptor = threading.Thread(target=self._accept, name="vxi11-accept", daemon=True)
        self._acceptor.start()

    @property
    def resource(self) -> str:
        """Return the resource string under which PyVISA finds this server."""
        return f"TCPIP::127.0.0.1,{self.port}::inst0::INSTR"

    def close(self) -> None:
        """Stop listening, drop every connection, and wait for the threads."""
        with self._guard:
            self._closing = True
            self._guard.notify_all()
        _shut(self._listener)
        self._acceptor.join(timeout=5)
        self.drop_connections()
        for thread in list(self._connections.values()):
            thread.join(timeout=5)

    def _outlast_hanging(self) -> None:
        """Wait until the link is no longer mute."""
        with self._guard:
            self._interpreter.pump()
            while self._faults.hanging and not self._closing:
                self._guard.wait(_STEP_S)

    def drop_connections(self) -> None:
        """Close every connection, as a pulled plug does."""
        with self._guard:
            socks = list(self._connections)
        for sock in socks:
            _shut(sock)

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            with self._guard:
                if self._closing or self._faults.unplugged:
                    sock.close()
                    continue
                thread = threading.Thread(
                    target=self._serve, args=(sock,), name="vxi11-connection", daemon=True
                )
                self._connections[sock] = thread
            thread.start()

    def _serve(self, sock: socket.socket) -> None:
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while (record := rpc.receive_record(sock)) is not None:
                self._outlast_hanging()
                rpc.send_record(sock, self._handle(sock, rpc.parse_call(record)))
        except (OSError, rpc.Broken) as error:
            _log.debug("connection ended: %s", error)
        finally:
            with self._guard:
                for link in [link for link, owner in self._links.items() if owner is sock]:
                    self._forget(link)
                self._connections.pop(sock, None)
                self._guard.notify_all()
            sock.close()

    def _handle(self, sock: socket.socket, call: rpc.RpcCall) -> bytes:
        if call.program != PROGRAM:
            return rpc.reply(call.xid, rpc.PROGRAM_UNAVAILABLE)
        if call.version != VERSION:
            return rpc.reply(call.xid, rpc.PROGRAM_MISMATCH, rpc.uint(VERSION, VERSION))
        procedures: dict[int, Callable[[socket.socket, rpc.XdrReader], bytes]] = {
            0: lambda _sock, _arguments: b"",
            10: self._create_link,
            11: self._write,
            12: self._read,
            13: self._read_status,
            14: self._simple(lambda: self._interpreter.receive(b"*TRG")),
            15: self._simple(self._interpreter.clear),
            16: self._simple(lambda: self._remote(True)),
            17: self._simple(lambda: self._remote(False)),
            18: self._lock,
            19: self._unlock,
            23: self._destroy_link,
        }
        procedure = procedures.get(call.procedure)
        if procedure is None:
            return rpc.reply(call.xid, rpc.PROCEDURE_UNAVAILABLE)
        try:
            return rpc.reply(call.xid, rpc.SUCCESS, procedure(sock, call.arguments))
        except rpc.Broken:
            return rpc.reply(call.xid, rpc.GARBAGE)

    def _create_link(self, sock: socket.socket, arguments: rpc.XdrReader) -> bytes:
        arguments.uint()
        lock = arguments.uint()
        arguments.uint()
        device = arguments.opaque().decode("latin-1").lower()
        with self._guard:
            if device not in ("inst0", "inst"):
                return rpc.uint(NO_DEVICE, 0, 0, 0)
            if not self._has_room():
                return rpc.uint(NO_RESOURCES, 0, 0, 0)
            if lock and self._locked_by is not None:
                return rpc.uint(LOCKED, 0, 0, 0)
            link, self._next_link = self._next_link, self._next_link + 1
            self._links[link] = sock
            if lock:
                self._locked_by = link
        # No abort channel is served, hence port 0.
        return rpc.uint(NO_ERROR, link, 0, MOST_RECEIVE_BYTES)

    def _has_room(self) -> bool:
        """Say whether a link is free, once those of clients that have gone are given back."""
        until_s = time.monotonic() + _LEAVING_S
        while self._links:
            if time.monotonic() >= until_s or not any(map(_has_gone, self._links.values())):
                return False
            self._guard.wait(_STEP_S)
        return True

    def _write(self, sock: socket.socket, arguments: rpc.XdrReader) -> bytes:
        link = arguments.uint()
        arguments.uint()
        arguments.uint()
        flags = arguments.uint()
        data = arguments.opaque()
        with self._guard:
            error = self._may_use(link)
            if error:
                return rpc.uint(error, 0)
            message = self._partial.pop(link, b"") + data
            if flags & END_FLAG or message.endswith(b"\n"):
                self._interpreter.receive(message)
                self._guard.notify_all()
            else:
                self._partial[link] = message
        return rpc.uint(NO_ERROR, len(data))

    def _read(self, sock: socket.socket, arguments: rpc.XdrReader) -> bytes:
        """Wait for a reply for at most the client's io_timeout, then answer error 15."""
        link, size, io_timeout_ms = arguments.uint(), arguments.uint(), arguments.uint()
        clock = self._interpreter.instrument.clock
        with self._guard:
            deadline_s = clock() + io_timeout_ms / 1000
            while True:
                error = self._may_use(link)
                if error or self._closing or _has_gone(sock):
                    return rpc.uint(error or IO_ERROR, 0) + rpc.opaque(b"")
                reply = self._interpreter.fetch(size)
                if reply is not None:
                    break
                now = clock()
                if now >= deadline_s:
                    self._interpreter.unterminated()
                    return rpc.uint(IO_TIMEOUT, 0) + rpc.opaque(b"")
                until_s = min(deadline_s, self._interpreter.next_event_s())
                self._guard.wait(min(max(until_s - now, 0.001), _STEP_S))
        data, ended = reply
        return rpc.uint(NO_ERROR, REASON_END if ended else REASON_COUNT) + rpc.opaque(data)

    def _read_status(self, sock: socket.socket, arguments: rpc.XdrReader) -> bytes:
        with self._guard:
            error = self._may_use(arguments.uint())
            return rpc.uint(error, 0 if error else self._interpreter.status_byte())

    def _simple(
        self, action: Callable[[], None]
    ) -> Callable[[socket.socket, rpc.XdrReader], bytes]:
        def procedure(sock: socket.socket, arguments: rpc.XdrReader) -> bytes:
            with self._guard:
                error = self._may_use(arguments.uint())
                if not error:
                    action()
                    self._guard.notify_all()
            return rpc.uint(error)

        return procedure

    def _remote(self, on: bool) -> None:
        self._interpreter.instrument.communication.remote = on

    def _lock(self, sock: socket.socket, arguments: rpc.XdrReader) -> bytes:
        link = arguments.uint()
        with self._guard:
            error = self._may_use(link)
            if not error:
                self._locked_by = link
        return rpc.uint(error)

    def _unlock(self, sock: socket.socket, arguments: rpc.XdrReader) -> bytes:
        link = arguments.uint()
        with self._guard:
            if self._locked_by != link:
                return rpc.uint(NO_LOCK)
            self._locked_by = None
        return rpc.uint(NO_ERROR)

    def _destroy_link(self, sock: socket.socket, arguments: rpc.XdrReader) -> bytes:
        link = arguments.uint()
        with self._guard:
            if link not in self._links:
                return rpc.uint(BAD_LINK)
            self._forget(link)
        return rpc.uint(NO_ERROR)

    def _may_use(self, link: int) -> int:
        if link not in self._links:
            return BAD_LINK
        if self._locked_by not in (None, link):
            return LOCKED
        return NO_ERROR

    def _forget(self, link: int) -> None:
        # Keep an unread reply: the next client's first message then gives "interrupted" (page 5-2).
        self._links.pop(link, None)
        self._partial.pop(link, None)
        if self._locked_by == link:
            self._locked_by = None


def _has_gone(sock: socket.socket) -> bool:
    """Say whether the other side has closed this connection, whatever it had sent before."""
    if sock.fileno() < 0:
        return True
    poll = select.poll()
    # Linux alone tells it before the last byte is read.
    poll.register(sock, getattr(select, "POLLRDHUP", 0))
    return bool(poll.poll(0))


def _shut(sock: socket.socket) -> None:
    """Close a socket so that a thread blocked on it wakes up."""
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    sock.close()
