# SPDX-License-Identifier: Apache-2.0
"""The command line of `python -m power`. Exit codes: 0 success, 1 failure, 2 wrong use."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
from collections.abc import Collection, Sequence
from types import ModuleType

from power.commands.characters import lacking, print_escapes
from power.commands.interrupt import (
    forget_dropped,
    listening,
    raise_if_dropped,
    raise_interrupt,
)
from power.commands.output import say
from power.commands.parser import Parser, as_option
from power.errors import MeterError

COMMANDS = {
    "list": "list the meters that are found",
    "identify": "say which meter answers",
    "selftest": "try a meter out before an event",
    "range": "watch a device and propose fixed ranges",
    "read": "print readings",
    "record": "record an integration and judge its energy",
    "mark": "name what begins now in a recording that runs",
    "run": "run a command, and measure its energy above idle",
    "rescue": "fetch what a meter holds after a crash, and judge it",
    "audit": "judge the energy in a log file",
    "plot": "draw a log file",
    "ptd": "speak the protocol of SPEC's PTDaemon, to rehearse MLPerf Power",
    "emulate": "serve an emulated meter over VXI-11",
    "fault": "switch faults on in a running emulator",
}

_EPILOG = """\
RESOURCE is a PyVISA resource string:
  TCPIP::192.168.1.5::INSTR          Ethernet (VXI-11)
  TCPIP::127.0.0.1,PORT::inst0::INSTR  the emulator, or VXI-11 at a known port
  USB::0x0B21::0x0025::SERIAL::INSTR USB (USBTMC)
  ASRL/dev/ttyUSB0::INSTR            RS-232, 9600 baud, 8N1, no handshake, as delivered
  ASRL/dev/ttyUSB0::INSTR@38400,7E1,RTS-CTS,LF
                                     RS-232 as the meter's menu is set; in any order: the speed,
                                     8N1, 7O1, 7E1 or 7N2, NONE, XON-XOFF or RTS-CTS, and the end
                                     of its replies, CRLF, LF or CR
  GPIB0::1::INSTR                    GPIB (set PYVISA_LIBRARY=@ivi for a vendor's VISA)
or, for identify, read, record and run, a meter of another kind (`list` names all):
  shelly:192.0.2.7                   a Shelly plug: rehearsals, not official

Exit codes: 0 good, 1 the answer is no, 2 wrong use.

Try it without a meter, in two terminals:
  python -m power emulate --watts 5
  python -m power record TCPIP::127.0.0.1,PORT::inst0::INSTR --seconds 20 --out log.csv
"""

# The exit code that a shell reports when the reader of the output has ended, as with `| head`.
_READER_GONE = 128 + signal.SIGPIPE


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    # numpy's threads of linear algebra cost each process time to start, and no rule needs them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    print_escapes()
    words = as_option(sys.argv[1:] if arguments is None else arguments)
    options = parser_of(words[:1]).parse_args(words)
    from power.logs.silence import keep_drawing_silent  # Help needs no log.

    keep_drawing_silent()
    try:
        with listening(raise_interrupt):
            raise_if_dropped()
            code = int(options.run(options))
            sys.stdout.flush()  # here a reader that has ended is still caught below
        return code
    except BrokenPipeError:
        _drop_output()
        return _READER_GONE
    except MeterError as error:
        say(f"error: {error.whole_text()}")
        return 1
    except UnicodeError as error:
        say(f"error: {lacking(error)}")
        return 2
    except (OSError, ValueError) as error:
        say(f"error: {error}")
        return 2
    except KeyboardInterrupt:
        say("interrupted")
        return 1
    finally:
        forget_dropped()


def ptd() -> int:
    """Run `ptd`: the script under the name that clients of PTDaemon start."""
    return main(["ptd", *sys.argv[1:]])


def parser_of(wanted: Collection[str]) -> Parser:
    """Return the parser; it imports only the wanted commands, so that each command starts fast."""
    parser = Parser(
        prog="python -m power",
        description="Drive a Yokogawa WT310 power meter, an emulated one, or another kind.",
        epilog=_EPILOG,
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        if name in wanted:
            _load(f"power.commands.{name}").add_parser(commands)
        else:
            commands.add_parser(name, help=summary)
    return parser


def _load(name: str) -> ModuleType:
    """Import a module; what modules make stays, so nobody looks for garbage among it meanwhile."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        return importlib.import_module(name)
    finally:
        if enabled:
            gc.enable()


def _drop_output() -> None:
    """Send the rest of the output to the null device, so Python does not write it at its exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
