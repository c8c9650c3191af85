# SPDX-License-Identifier: Apache-2.0
"""`python -m power ptd`, also the script `ptd`: PTDaemon's protocol for rehearsals."""

from __future__ import annotations

import argparse
import logging
import platform
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from power.clock import real_elapsed_s
from power.commands.any_meter import any_meter
from power.commands.as_found import as_found
from power.commands.options import (
    add_condition_options,
    add_discard_option,
    chosen_meter,
    conditions_of,
    guard_of,
)
from power.commands.seconds import some_seconds
from power.meter import Identity, Meter, MeterSettings
from power.ptd.console import Console, ConsoleHandler
from power.ptd.device import DEVICE_TYPES, OTHER, DeviceType, device_type, resource_of
from power.resource import is_official, split_resource

if TYPE_CHECKING:
    from power.ptd.events import Events
    from power.ptd.loop import SessionThread
    from power.ptd.places import Wishes
    from power.ptd.session import PtdSession, Workplace

_NO_PTDAEMON = "This is not SPEC PTDaemon. Official submissions need PTDaemon."
_DESCRIPTION = f"""\
Answer the clients of SPEC's PTDaemon with samples of this meter, so that MLPerf Power can be
rehearsed without the closed program. {_NO_PTDAEMON}
docs/ptd.md shows a whole rehearsal.

The flags are PTDaemon's. MLCommons' power-dev starts it by itself: in the server's configuration,
`ptd` is the path of the script `ptd`, which takes these flags too.

  python -m power ptd -l ptd.log -p 8888 -n 49 192.168.1.5
  python -m power ptd -l ptd.log -p 8888 -y 49 C2PH13047V
  python -m power ptd -l ptd.log -p 8888 49 TCPIP::127.0.0.1,40123::inst0::INSTR
  python -m power ptd -l ptd.log -p 8888 0 "shelly:192.168.1.7?accuracy=1"

A client sends lines: Hello, Identify, RR, SR, Go, Timed, Stop, Reset, Mark, RL, R*, Watts, Volts,
Amps, PF, Uncertainty. All clients share the meter. SIGTERM or Ctrl-C ends it, and gives the meter
its settings back.
"""
_TYPES = ", ".join(f"{one.number} {one.name}" for one in DEVICE_TYPES.values()) + ", 0 any other"
_SYSTEM = (
    f"{platform.system()} {platform.release()} {platform.machine()} "
    "(not SPEC PTDaemon: a rehearsal)"
)
# So long for the session to end, after a wish for it. A client of PTDaemon kills it after 10 s.
_END_S = 1.0
_LOOK_S = 0.5


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's parser."""
    parser = commands.add_parser(
        "ptd",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("type", metavar="TYPE", type=int, help=f"device type: {_TYPES}")
    parser.add_argument(
        "device",
        metavar="DEVICE",
        help="device port: what the interface flag asks for, or a PyVISA resource string",
    )
    parser.add_argument(
        "-l", dest="log", metavar="LOG", type=Path, help="append samples and events to this file"
    )
    parser.add_argument(
        "-p", dest="port", metavar="PORT", type=_port, default=8888, help="TCP port (default: 8888)"
    )
    parser.add_argument(
        "--listen", metavar="HOST", default="127.0.0.1", help="address (default: 127.0.0.1)"
    )
    interface = parser.add_mutually_exclusive_group()
    for flag, text in (
        ("n", "DEVICE is a host on Ethernet, or HOST,PORT of an emulator"),
        ("y", "DEVICE is a host on Ethernet, or a serial number on USB"),
        ("U", "DEVICE is a serial number on USB"),
        ("g", "DEVICE is an address on GPIB"),
    ):
        interface.add_argument(
            f"-{flag}", dest="interface", action="store_const", const=flag, default="", help=text
        )
    parser.add_argument(
        "-b", dest="board", metavar="BOARD", type=int, default=0, help="GPIB board (default: 0)"
    )
    parser.add_argument(
        "-c", dest="channel", metavar="N", choices=("1", "2", "3"), default="1", help="element"
    )
    parser.add_argument("-D", dest="direct", action="store_true", help="measure direct current")
    parser.add_argument(
        "--update",
        metavar="DURATION",
        type=some_seconds,
        default=1.0,
        help="update interval of the meter, and of samples where a client names none (default: 1)",
    )
    _add_link_options(parser)
    add_condition_options(parser)
    add_discard_option(parser)
    parser.set_defaults(run=run)


def _add_link_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--wire-log", metavar="FILE", type=Path, help="append the conversation with the meter"
    )
    parser.add_argument(
        "--timeout",
        type=some_seconds,
        default=2.0,
        metavar="DURATION",
        help="how long to wait for a reply (default: 2)",
    )
    # A serial line's settings stand behind its port, so that power-dev can pass them on.
    parser.set_defaults(baud=None)


def run(options: argparse.Namespace) -> int:
    """Serve clients until somebody asks for the end."""
    from power.ptd.events import Events

    other = options.type == OTHER
    if other:
        _require_other(options.device)
    device = None if other else device_type(options.type, direct_current=options.direct)
    options.resource = (
        options.device if other else resource_of(options.interface, options.device, options.board)
    )
    options.element = options.channel
    split_resource(options.resource)
    with _consoles() as say:
        say(f"A rehearsal. {_NO_PTDAEMON}")
        events = Events(say, lambda: datetime.now(UTC), options.log)
        if options.log is not None:
            say(f"Redirecting data output to file {options.log}")
        try:
            return _served(options, device, events)
        except KeyboardInterrupt:
            return 0
        finally:
            events.close()


def _served(options: argparse.Namespace, device: DeviceType | None, events: Events) -> int:
    """Open the meter, and serve clients; without a `device` the meter is of another kind."""
    from power.ptd.places import fitting, other_place, wt310_place

    events.notice(f"Attempting to connect to measurement device type {options.type}...")
    if device is None:
        with any_meter(options) as meter:
            _introduce(meter.identify(), events)
            settings, place = other_place(
                meter, _wishes(options), events, clock=real_elapsed_s, sleep=time.sleep
            )
            return _serve(options, meter, settings, place, events)
    with chosen_meter(options) as wt310:
        _introduce(fitting(wt310, device), events)
        guard = guard_of(wt310, options)
        guard.leave()
        with as_found(wt310, guard):
            settings, place = wt310_place(wt310, device, _wishes(options), events, guard.leave)
            return _serve(options, wt310, settings, place, events)


def _require_other(resource: str) -> None:
    """Refuse device type 0 for what is no meter of another kind."""
    if is_official(resource):
        raise ValueError(
            "device type 0 is for other meters, such as shelly:192.0.2.7 (docs/meters.md); give "
            "device type 49 for a WT310. Without a meter start `python -m power emulate`, and give "
            "device type 49 with the resource that it prints"
        )


def _introduce(identity: Identity, events: Events) -> None:
    name = ",".join((identity.maker, identity.model, identity.serial, identity.firmware))
    events.notice(f"Analyzer identity response of {len(name)} bytes: {name}")


def _wishes(options: argparse.Namespace) -> Wishes:
    from power.ptd.places import Wishes

    return Wishes(options.update, options.channel, conditions_of(options), _SYSTEM)


def _serve(
    options: argparse.Namespace,
    meter: Meter,
    settings: MeterSettings,
    place: Workplace,
    events: Events,
) -> int:
    from power.ptd.session import PtdSession

    session = PtdSession(
        meter,
        meter.identify(),
        settings,
        place,
        events,
        clock=real_elapsed_s,
        now=lambda: datetime.now(UTC),
    )
    events.notice(f"Connected to {place.device.name} successfully")
    with _running(session, options, events) as thread:
        while thread.alive():
            thread.wait(_LOOK_S)
    if thread.broken is not None:
        raise thread.broken
    return 0


@contextmanager
def _running(
    session: PtdSession, options: argparse.Namespace, events: Events
) -> Iterator[SessionThread]:
    """Run the session's thread and the server; end both at every exit."""
    from power.ptd.loop import SessionThread
    from power.ptd.server import LineServer

    thread = SessionThread(session, real_elapsed_s)
    server = LineServer(options.listen, options.port, thread.ask, events)
    try:
        events.notice(f"Listening on port {server.port}, waiting for a connection...")
        thread.start()
        server.start()
        yield thread
    finally:
        server.close()
        thread.stop(_END_S)


def _port(text: str) -> int:
    if not (text.isdigit() and int(text) < 65536):
        raise argparse.ArgumentTypeError(f"{text!r} is no TCP port")
    return int(text)


@contextmanager
def _consoles() -> Iterator[Callable[[str], None]]:
    """Yield what writes a line to standard output; warnings go to standard error the same way.

    Clients of PTDaemon start this program with both in one pipe, which they may never read.
    """
    output, errors = Console(_descriptor(sys.stdout)), Console(_descriptor(sys.stderr))
    handler = ConsoleHandler(errors)
    logging.getLogger().addHandler(handler)
    try:
        yield output.say
    finally:
        logging.getLogger().removeHandler(handler)
        output.close()
        errors.close()


def _descriptor(stream: TextIO) -> int:
    """Return the descriptor of a stream; a stream without one gets no lines."""
    try:
        return stream.fileno()
    except (OSError, ValueError):
        return -1
