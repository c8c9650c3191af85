# SPDX-License-Identifier: Apache-2.0
"""`python -m power fault`: switch faults on in a running emulator."""

from __future__ import annotations

import argparse
import socket
import sys

from power.emulator.faults import parse_fault

_DESCRIPTION = """\
Send lines to the control port of `python -m power emulate --control 0`, and print the answers. A
line is a fault with its parameters, or `status`. `python -m power emulate --help` lists the faults.

  python -m power fault 127.0.0.1:4711 "unplug seconds=8"
  python -m power fault 127.0.0.1:4711 "panel key=STOP" status
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's parser."""
    parser = commands.add_parser(
        "fault",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("address", metavar="HOST:PORT", help="the emulator's control port")
    parser.add_argument("lines", metavar="LINE", nargs="+", help="a fault, or status")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Send each line and print its answer; exit code 1 if one was refused."""
    host, _, port = options.address.rpartition(":")
    if not port.isdecimal():
        raise ValueError(f"{options.address!r} is not of the form HOST:PORT")
    for line in options.lines:
        if line != "status":
            parse_fault(line)
    with (
        socket.create_connection((host, int(port)), timeout=10) as sock,
        sock.makefile("rw", encoding="utf-8") as stream,
    ):
        for line in options.lines:
            stream.write(line + "\n")
            stream.flush()
            answer = stream.readline().strip()
            if not answer or answer.startswith("error"):
                print(answer or "error: the emulator has ended", file=sys.stderr)
                return 1
            print(answer)
    return 0
