# SPDX-License-Identifier: Apache-2.0
"""The command line of `python -m power`. Exit codes: 0 success, 1 failure, 2 wrong use."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence

from power.commands import (
    audit,
    emulate,
    fault,
    identify,
)
from power.commands import list as list_
from power.commands import plot
from power.commands import range as range_
from power.commands import read, record, rescue, selftest
from power.commands.interrupt import listening, raise_interrupt
from power.commands.output import say
from power.errors import MeterError

_EPILOG = """\
RESOURCE is a PyVISA resource string:
  TCPIP::192.168.1.5::INSTR          Ethernet (VXI-11)
  TCPIP::127.0.0.1,PORT::inst0::INSTR  the emulator, or VXI-11 at a known port
  USB::0x0B21::0x0025::SERIAL::INSTR USB (USBTMC)
  ASRL/dev/ttyUSB0::INSTR            RS-232
  GPIB0::1::INSTR                    GPIB (set PYVISA_LIBRARY=@ivi for a vendor's VISA)

Try it without a meter, in two terminals:
  python -m power emulate --watts 5
  python -m power record TCPIP::127.0.0.1,PORT::inst0::INSTR --seconds 20 --out log.csv
"""

# The exit code that a shell reports when the reader of the output has ended, as with `| head`.
_READER_GONE = 128 + signal.SIGPIPE


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m power",
        description="Drive a Yokogawa WT310 power meter, or an emulated one.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for module in (
        *(list_, identify, selftest, range_, read, record, rescue),
        *(audit, plot, emulate, fault),
    ):
        module.add_parser(commands)
    options = parser.parse_args(arguments)
    try:
        with listening(raise_interrupt):
            code = int(options.run(options))
            sys.stdout.flush()  # here a reader that has ended is still caught below
        return code
    except BrokenPipeError:
        _drop_output()
        return _READER_GONE
    except MeterError as error:
        say(f"error: {error.whole_text()}")
        return 1
    except (OSError, ValueError) as error:
        say(f"error: {error}")
        return 2
    except KeyboardInterrupt:
        say("interrupted")
        return 1


def _drop_output() -> None:
    """Send the rest of the output to the null device, so Python does not write it at its exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
