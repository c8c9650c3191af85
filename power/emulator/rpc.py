# SPDX-License-Identifier: Apache-2.0
"""ONC RPC over TCP, server side: records (RFC 5531, section 11), XDR (RFC 4506), call headers."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass

_LAST_FRAGMENT = 0x80000000
_CALL, _REPLY = 0, 1
_VERSION = 2
# The largest write is smaller than this; a longer record is an error.
_MOST_RECORD_BYTES = 1 << 20

SUCCESS, PROGRAM_UNAVAILABLE, PROGRAM_MISMATCH, PROCEDURE_UNAVAILABLE, GARBAGE = range(5)


class Broken(Exception):
    """Bytes that are not an RPC call."""


class XdrReader:
    """A reader of the XDR values of a record, one after another."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def uint(self) -> int:
        """Return an unsigned 32-bit number."""
        if self._at + 4 > len(self._data):
            raise Broken("record ends early")
        (value,) = struct.unpack_from(">I", self._data, self._at)
        self._at += 4
        return int(value)

    def opaque(self) -> bytes:
        """Return bytes that come after their length and are padded to a multiple of four."""
        length = self.uint()
        end = self._at + length
        if end > len(self._data):
            raise Broken("record ends early")
        value = self._data[self._at : end]
        self._at = end + (-length) % 4
        return value


def uint(*values: int) -> bytes:
    """Return unsigned 32-bit numbers as XDR."""
    return struct.pack(f">{len(values)}I", *values)


def opaque(data: bytes) -> bytes:
    """Return bytes as XDR: their length, then the bytes, padded to a multiple of four."""
    return uint(len(data)) + data + bytes((-len(data)) % 4)


@dataclass(frozen=True)
class RpcCall:
    """The header of one call, and a reader of its arguments."""

    xid: int
    program: int
    version: int
    procedure: int
    arguments: XdrReader


def parse_call(record: bytes) -> RpcCall:
    """Return the call in a record; credentials are ignored, because there are no accounts."""
    reader = XdrReader(record)
    xid = reader.uint()
    if reader.uint() != _CALL or reader.uint() != _VERSION:
        raise Broken("no call of RPC version 2")
    program, version, procedure = reader.uint(), reader.uint(), reader.uint()
    for _ in ("credentials", "verifier"):
        reader.uint()
        reader.opaque()
    return RpcCall(xid, program, version, procedure, reader)


def reply(xid: int, status: int, result: bytes = b"") -> bytes:
    """Return the record of an accepted call with its status and result."""
    return uint(xid, _REPLY, 0, 0, 0, status) + result


def receive_record(sock: socket.socket) -> bytes | None:
    """Return one record, or None when the peer has closed the connection."""
    record = b""
    while True:
        head = _receive_exactly(sock, 4)
        if head is None:
            return None
        (word,) = struct.unpack(">I", head)
        length = word & ~_LAST_FRAGMENT
        if len(record) + length > _MOST_RECORD_BYTES:
            raise Broken("record too long")
        part = _receive_exactly(sock, length)
        if part is None:
            return None
        record += part
        if word & _LAST_FRAGMENT:
            return record


def send_record(sock: socket.socket, record: bytes) -> None:
    """Send one record as a single fragment."""
    sock.sendall(uint(len(record) | _LAST_FRAGMENT) + record)


def _receive_exactly(sock: socket.socket, count: int) -> bytes | None:
    data = b""
    while len(data) < count:
        part = sock.recv(count - len(data))
        if not part:
            return None
        data += part
    return data
