# SPDX-License-Identifier: Apache-2.0
"""`python -m power emulate`: serve an emulated WT310 until interrupted."""

from __future__ import annotations

import argparse
from pathlib import Path

from power.bounded_file import file_text
from power.emulator.faults import CATALOGUE, BadFault, ScheduledFault, parse_fault, parse_schedule
from power.emulator.instrument import Options
from power.emulator.load import SINE, Load
from power.emulator.portmapper import PORT as PORTMAPPER_PORT
from power.emulator.process import Troubles, Vxi11Port, serve
from power.emulator.profile import LoadProfile, bursts, constant, parse_steps, read_csv
from power.emulator.settings import MODELS
from power.emulator.supported import TABLES
from power.emulator.waveform import Waveform, parse_waveform
from power.resource import SerialLine, parse_line

_DESCRIPTION = """\
Serve an emulated WT310 over VXI-11 on loopback. When clients may connect, one line is printed:

  ready TCPIP::127.0.0.1,PORT::inst0::INSTR

The load restarts with each integration, so a run of T seconds costs the profile's integral from 0
to T. --profile-runs-on changes that. SIGTERM or Ctrl-C ends the emulator.
"""


def _epilog() -> str:
    """Return the text on how to rehearse a disaster, with the table of faults."""
    rows = []
    for name, (parameters, text) in CATALOGUE.items():
        given = " ".join(f"{key}={value}" for key, value in parameters.items())
        rows.append(f"  {name:12}{given:34}{text}")
    return _REHEARSAL + "\n".join(rows)


_REHEARSAL = """\
Rehearse a disaster: write a schedule with a time and a fault on each line. Times are seconds since
the emulator's start, or with `start+` since the integration's start:

  # the cable is out for 8 s at half time, and somebody presses STOP shortly before the end
  start+150 unplug seconds=8
  start+290 panel key=STOP

  python -m power emulate --watts 5 --schedule disaster.txt

Or switch a fault on by hand while the emulator runs (--control 0 prints the port on stderr):

  python -m power fault 127.0.0.1:PORT "panel key=RESET"

The faults, with their parameters' defaults:

"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's parser."""
    parser = commands.add_parser(
        "emulate",
        description=_DESCRIPTION,
        epilog=_epilog(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_load(parser)
    _add_mains(parser)
    parser.add_argument("--model", choices=sorted(MODELS), default="WT310", help="(default: WT310)")
    parser.add_argument("--identity", default="", help="another *IDN? reply, whole")
    _add_link(parser)
    _add_faults(parser)
    parser.add_argument(
        "--late-final", action="store_true", help="show the final energy one update after the end"
    )
    parser.add_argument(
        "--commands",
        choices=tuple(TABLES),
        nargs="?",
        const="WT300",
        help="print the commands that it answers, and end; WT200: those of that command mode alone",
    )
    parser.add_argument(
        "--exit-with-parent", action="store_true", help="end when the parent process ends"
    )
    parser.set_defaults(run=run)


def _add_link(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--port", type=int, metavar="PORT", default=0, help="TCP port; 0 chooses one (default: 0)"
    )
    parser.add_argument(
        "--serial",
        metavar="SETTINGS",
        type=_line,
        nargs="?",
        const=SerialLine(),
        help="serve RS-232 on a pseudo-terminal, not VXI-11; SETTINGS of the line as in its"
        " resource string, such as 38400,7E1,RTS-CTS,LF (default: 9600,8N1,NONE,CRLF)",
    )
    parser.add_argument(
        "--portmapper",
        metavar="PORT",
        type=int,
        nargs="?",
        const=PORTMAPPER_PORT,
        help="tell the VXI-11 port to clients that ask for it (default: port 111, for which most"
        " systems want the superuser; 0 chooses one)",
    )


def _add_faults(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--fault",
        metavar="LINE",
        action="append",
        default=[],
        help="a fault from the beginning; may be repeated",
    )
    parser.add_argument("--schedule", metavar="FILE", type=Path, help="faults at set times")
    parser.add_argument(
        "--control",
        metavar="PORT",
        type=int,
        help="take faults on this port; 0 chooses one",
    )
    parser.add_argument(
        "--seed", type=int, metavar="N", default=0, help="seed of the random faults (default: 0)"
    )


def _line(words: str) -> SerialLine:
    try:
        return parse_line(words)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _waveform(text: str) -> Waveform:
    try:
        return parse_waveform(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _add_load(parser: argparse.ArgumentParser) -> None:
    load = parser.add_mutually_exclusive_group()
    load.add_argument(
        "--watts", type=float, metavar="X", default=5.0, help="constant load (default: 5)"
    )
    load.add_argument("--steps", metavar="S:W,…", help='steps, as "0:4.0,5:7.5,12:3"')
    load.add_argument(
        "--bursts", metavar="LOW,HIGH,PERIOD,DUTY", help='repeating bursts, as "2,9,1.5,0.3"'
    )
    load.add_argument(
        "--profile",
        metavar="FILE.csv",
        type=Path,
        help="recorded load: power log, or seconds,watts",
    )
    parser.add_argument(
        "--profile-runs-on",
        action="store_true",
        help="count the load's time from the emulator's start, not from each integration",
    )


def _add_mains(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--volts", type=float, metavar="X", default=120.0, help="rms voltage (default: 120)"
    )
    parser.add_argument(
        "--power-factor", type=float, metavar="X", default=1.0, help="0 to 1 (default: 1)"
    )
    parser.add_argument(
        "--hertz",
        type=float,
        metavar="X",
        default=60.0,
        help="frequency; 0 is direct current (default: 60)",
    )
    for quantity in ("voltage", "current"):
        parser.add_argument(
            f"--{quantity}-waveform",
            metavar="ORDER:AMPLITUDE[:DEGREES],…",
            type=_waveform,
            help=f"harmonics of the {quantity}, as 1:1:-30,3:0.4,5:0.2:180 (default: a sine)"
            + ("; it decides power factor and crest" if quantity == "current" else ""),
        )
    parser.add_argument(
        "--shares",
        metavar="PART,…",
        default="1",
        help="parts of the load in the elements of a WT332 or WT333, as 0.5,0.3,0.2",
    )


def run(options: argparse.Namespace) -> int:
    """Serve until the process is told to stop."""
    if options.commands:
        print(TABLES[options.commands](), end="")
        return 0
    serve(
        Load(
            _profile(options),
            volts=options.volts,
            power_factor=options.power_factor,
            frequency_hz=options.hertz,
            voltage_waveform=options.voltage_waveform or SINE,
            current_waveform=options.current_waveform,
            shares=tuple(_numbers(options.shares, "PART,…")),
        ),
        Options(
            model=options.model,
            identity=options.identity,
            profile_from_start=not options.profile_runs_on,
            late_final=options.late_final,
            seed=options.seed,
        ),
        options.serial or Vxi11Port(options.port, options.portmapper),
        Troubles(
            [parse_fault(line) for line in options.fault],
            _schedule(options.schedule),
            options.control,
        ),
        exit_with_parent=options.exit_with_parent,
    )
    return 0


def _schedule(path: Path | None) -> list[ScheduledFault]:
    if path is None:
        return []
    try:
        return parse_schedule(file_text(path))
    except BadFault as error:
        raise ValueError(f"{path}, {error}") from None


def _profile(options: argparse.Namespace) -> LoadProfile:
    if options.profile is not None:
        return read_csv(options.profile)
    if options.steps is not None:
        return parse_steps(options.steps)
    if options.bursts is not None:
        return bursts(*_numbers(options.bursts, "LOW,HIGH,PERIOD,DUTY", 4))
    return constant(options.watts)


def _numbers(text: str, form: str, count: int | None = None) -> list[float]:
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or count not in (None, len(numbers)):
        raise ValueError(f"{text!r} is not of the form {form}")
    return numbers
