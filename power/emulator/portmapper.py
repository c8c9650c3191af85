# SPDX-License-Identifier: Apache-2.0
"""A portmapper for one program: it tells VXI-11 clients the port of the emulator (RFC 1833).

Programs that know an instrument's address alone ask port 111 first. Only the superuser may listen
there on most systems.
"""

from __future__ import annotations

import logging
import socket
import threading

from power.emulator import rpc

PORT = 111
_PROGRAM, _VERSION = 100_000, 2
_NULL, _GET_PORT, _DUMP = 0, 3, 4
_TCP = 6
_LONGEST_S = 5.0

_log = logging.getLogger(__name__)


class Portmapper:
    """A server on 127.0.0.1 with one thread, which serves one client after the other."""

    def __init__(self, program: int, version: int, program_port: int, port: int = PORT) -> None:
        self._mapping = (program, version, _TCP, program_port)
        self._listener = socket.create_server(("127.0.0.1", port))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, name="portmapper", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening, and wait for the thread."""
        try:
            self._listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # It has ended by itself.
        self._listener.close()
        self._thread.join(timeout=2 * _LONGEST_S)

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            with client:
                client.settimeout(_LONGEST_S)  # Whoever says nothing keeps the next one out.
                try:
                    while (record := rpc.receive_record(client)) is not None:
                        rpc.send_record(client, self._answer(rpc.parse_call(record)))
                except (OSError, rpc.Broken) as error:
                    _log.debug("portmapper: connection ended: %s", error)

    def _answer(self, call: rpc.RpcCall) -> bytes:
        if call.program != _PROGRAM:
            return rpc.reply(call.xid, rpc.PROGRAM_UNAVAILABLE)
        if call.version != _VERSION:
            return rpc.reply(call.xid, rpc.PROGRAM_MISMATCH, rpc.uint(_VERSION, _VERSION))
        if call.procedure == _NULL:
            return rpc.reply(call.xid, rpc.SUCCESS)
        if call.procedure == _GET_PORT:
            asked = tuple(call.arguments.uint() for _ in range(3))
            port = self._mapping[3] if asked == self._mapping[:3] else 0
            return rpc.reply(call.xid, rpc.SUCCESS, rpc.uint(port))
        if call.procedure == _DUMP:
            return rpc.reply(call.xid, rpc.SUCCESS, rpc.uint(1, *self._mapping, 0))
        return rpc.reply(call.xid, rpc.PROCEDURE_UNAVAILABLE)
