# SPDX-License-Identifier: Apache-2.0
"""Reach a meter through PyVISA: VXI-11, USBTMC, RS-232, GPIB, raw socket.

PyVISA and its backend are imported when a link is opened, not before. The backend is pyvisa-py
unless the environment variable PYVISA_LIBRARY names another one (`@ivi` for NI-VISA).
"""

from __future__ import annotations

import logging
import os
import time
from typing import Any

from power.errors import SWITCH_OFF, MeterBusy, MeterError, MeterSilent, MeterUnreachable
from power.resource import TERMINATORS, SerialLine, split_resource
from power.transports.pyvisa_internals import (
    close_left_sockets,
    connection_closer,
    forget_link,
    missing,
    peer_has_closed,
    refusal_code,
)

_log = logging.getLogger(__name__)

# Reads of an exact multiple of the chunk size timed out in pyvisa-py before 0.9 (its issue 608);
# no reply of the meter reaches 20 kB.
CHUNK_BYTES = 20480
# VXI-11 device errors that mean "not you, now" (VXI-11 rev. 1.0, section B.5.2).
_LINK_REFUSALS = {
    "3": "the instrument has no free connection or no such device name",
    "9": "the instrument has no free connection",
    "11": "another client has locked the instrument",
}
# pyvisa-py reports its own time-out of 5 s with the same code as a refusal. A "refusal" that took
# this long is a time-out.
_MUTE_S = 4.0

# The words of `SerialLine`, and PyVISA's names for them.
_PARITY = {"N": "none", "O": "odd", "E": "even"}
_FLOW = {"NONE": "none", "XON-XOFF": "xon_xoff", "RTS-CTS": "rts_cts"}


class VisaTransport:
    """A PyVISA resource as a transport; every failure becomes a meter error.

    `resource` is a resource string, for a serial line with its settings (`power.resource`); raises
    ValueError for settings that no line has.

    A line feed ends a message, and a reply on sockets. On serial lines the meter's terminator ends
    a reply. On VXI-11, USBTMC and GPIB
    the end-of-message flag ends a reply, so that a binary block may contain line feeds.
    """

    def __init__(self, resource: str, *, open_timeout_s: float = 5.0) -> None:
        self.name = resource
        visa, line = split_resource(resource)
        self._pyvisa = _import_pyvisa()
        self._inst: Any = None
        self._failed = False
        self._line = visa.upper().startswith("ASRL") or visa.upper().endswith("SOCKET")
        begun_s = time.monotonic()
        try:
            manager = self._pyvisa.ResourceManager(os.environ.get("PYVISA_LIBRARY", "@py"))
            self._inst = manager.open_resource(visa, open_timeout=round(1000 * open_timeout_s))
            self._set_up(line)
        except Exception as error:  # every backend has its own tree of errors
            self.close()
            close_left_sockets(error.__traceback__)
            raise _opening_error(resource, error, time.monotonic() - begun_s) from error

    def _set_up(self, line: SerialLine) -> None:
        self._inst.write_termination = "\n"
        self._inst.chunk_size = CHUNK_BYTES
        if self._line:
            self._inst.read_termination = "\n"
        elif self.name.upper().startswith("TCPIP") and "HISLIP" not in self.name.upper():
            for internal in missing(self._inst):
                _log.warning("this version of pyvisa-py has no %s", internal)
        if self.name.upper().startswith("ASRL"):
            self._set_line(line)

    def _set_line(self, line: SerialLine) -> None:
        """Set the port of this computer as the meter's menu is set."""
        constants = self._pyvisa.constants
        bits, parity, stop = tuple(line.data_format)
        self._inst.baud_rate = line.baud
        try:
            self._inst.data_bits = int(bits)
            self._inst.parity = getattr(constants.Parity, _PARITY[parity])
            self._inst.stop_bits = constants.StopBits.two if stop == "2" else constants.StopBits.one
        except Exception as error:  # every backend has its own tree of errors
            raise MeterUnreachable(
                f"{self.name}: the port refuses {line.data_format} ({_reason(error)}); "
                "choose 8N1 (For 0) at the meter, and in the resource string"
            ) from error
        self._inst.flow_control = getattr(constants.ControlFlow, _FLOW[line.handshake])
        # CR LF ends with LF, so that the last character is enough.
        self._inst.read_termination = TERMINATORS[line.terminator][-1:].decode()

    def write(self, message: str) -> None:
        """Send one program message, ended by a line feed."""
        try:
            self._opened().write(message)
        except Exception as error:
            raise self._error(error) from error

    def read(self, timeout_s: float) -> bytes:
        """Return one reply; PyVISA takes time-outs in whole milliseconds."""
        try:
            inst = self._opened()
            inst.timeout = max(1, round(1000 * timeout_s))
            reply: bytes = inst.read_raw(CHUNK_BYTES)
        except Exception as error:
            raise self._error(error) from error
        return reply

    def clear(self) -> None:
        """Send a device clear; on a wire without one, drop the received bytes."""
        constants = self._pyvisa.constants
        try:
            inst = self._opened()
            if self.name.upper().startswith("ASRL"):
                inst.flush(constants.BufferOperation.discard_read_buffer)
            else:
                inst.clear()
        except Exception as error:
            # pyvisa-py 0.8 has no device clear on USBTMC; it aborts a read that timed out.
            code = getattr(error, "error_code", None)
            if code != constants.StatusCode.error_nonsupported_operation:
                raise self._error(error) from error

    def close(self) -> None:
        """Release the resource; never raises, even if the link is lost already."""
        inst, self._inst = self._inst, None
        if inst is None:
            return
        try:
            self._release(inst)
        except Exception as error:  # every backend has its own tree of errors
            _log.warning("the link to %s was not closed cleanly: %s", self.name, _reason(error))

    def _release(self, inst: Any) -> None:
        """Close the resource, or at least our side of its connection."""
        if self._failed:
            forget_link(inst)
        # The session is gone after close, even if close fails.
        let_go = connection_closer(inst)
        try:
            inst.close()
        except Exception:  # the peer may not answer any more; close our side of the connection
            let_go()

    def _opened(self) -> Any:
        if self._inst is None:
            raise MeterUnreachable(f"the link to {self.name} is closed; open it again")
        if peer_has_closed(self._inst):
            self._failed = True
            raise MeterUnreachable(
                f"the meter at {self.name} has closed the link; look at its cable"
            )
        return self._inst

    def _error(self, error: Exception) -> MeterError:
        if isinstance(error, MeterError):
            return error
        self._failed = True
        code = getattr(error, "error_code", None)
        if code == self._pyvisa.constants.StatusCode.error_timeout:
            return MeterSilent(
                f"{self.name} did not answer in time; look at its panel and its cable"
            )
        return MeterUnreachable(
            f"the link to {self.name} is lost ({_reason(error)}); look at its cable"
        )


def _import_pyvisa() -> Any:
    try:
        import pyvisa
        import pyvisa.constants  # noqa: F401
    except ImportError as error:
        raise MeterUnreachable(
            f"PyVISA is missing ({error}); install it with: pip install pyvisa pyvisa-py pyserial"
        ) from error
    return pyvisa


def _opening_error(resource: str, error: Exception, took_s: float) -> MeterError:
    if isinstance(error, MeterError):
        return error
    reason = _reason(error)
    code = refusal_code(error)
    if code == "3" and took_s >= _MUTE_S:
        silent = MeterSilent(f"{resource} takes connections but does not answer")
        return silent.with_remedy(SWITCH_OFF)
    if code in _LINK_REFUSALS:
        return MeterBusy(
            f"{resource} refused the link: {_LINK_REFUSALS[code]}; end the other program, or "
            "wait until the meter forgets a program that has crashed"
        )
    if "INV_RSRC_NAME" in reason or "InvalidResourceName" in type(error).__name__:
        return MeterUnreachable(
            f"{resource!r} is not a resource string; examples are TCPIP::192.168.1.5::INSTR, "
            "USB::0x0B21::0x0025::SERIAL::INSTR, ASRL/dev/ttyUSB0::INSTR and GPIB0::1::INSTR"
        )
    hint = "look at its cable, its panel and its address"
    if resource.upper().startswith("USB"):
        hint += ", and that this user may use the USB device (udev rule in docs/power.md)"
    return MeterUnreachable(f"{resource} cannot be opened ({reason}); {hint}")


def _reason(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
