# SPDX-License-Identifier: Apache-2.0
"""`python -m power record`: run one integration into a power log, and judge its energy."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType

from tqdm import tqdm

from power.bench.priority import hurried
from power.bench.recorder import Recorder
from power.commands.options import add_meter_options, add_setting_options, open_chosen, settings_of
from power.commands.output import print_json, result_text
from power.energy.judge import RunFacts
from power.energy.verdict import Verdict, result_to_json, suspect, with_findings
from power.logs.facts_file import facts_path, save_facts
from power.meter import Reading
from power.values import identity_to_json, settings_to_json

_DESCRIPTION = """\
Reset the meter, set it up, and integrate for --seconds by the meter's own timer. Every reading goes
to a CSV file as it comes. At the end it prints energy and verdict. Ctrl-C ends the integration
early and still judges it. While the disk is full the readings wait in memory. Exit code 1 when the
energy is INVALID, or when the files could not be written.

  python -m power record TCPIP::10.0.0.5::INSTR --seconds 600 --volts 150 --amps 0.5 --out run.csv
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's parser."""
    parser = commands.add_parser(
        "record",
        help="record an integration and judge its energy",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_meter_options(parser)
    add_setting_options(parser)
    parser.add_argument(
        "--seconds", type=int, default=60, help="length of the run, whole seconds (default 60)"
    )
    parser.add_argument(
        "--out",
        metavar="LOG.csv",
        type=Path,
        required=True,
        help="a new file for the readings; settings and identity go into LOG.json beside it",
    )
    parser.add_argument(
        "--official", action="store_true", help="refuse auto-range, unless a reason is given"
    )
    parser.add_argument(
        "--auto-range", metavar="REASON", help="reason for an official run on auto-range"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress on stderr")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Record once, and unlock the meter's front panel at the end."""
    if options.seconds < 1:
        raise ValueError("--seconds must be at least 1")
    fixed = None not in (options.volts, options.amps)
    if options.official and not fixed and not options.auto_range:
        raise ValueError(
            "an official run needs fixed ranges. Give --volts and --amps as `python -m power "
            "range` proposes them. Or give --auto-range REASON, which makes the verdict SUSPECT"
        )
    for path in (options.out, facts_path(options.out)):
        if path.exists():
            raise FileExistsError(f"{path} exists already; choose a new file")
    settings = settings_of(options, options.seconds)
    with (
        closing(open_chosen(options)) as meter,
        _interruptible() as interrupted,
        hurried(),
        _progress(options.seconds, quiet=options.quiet) as progress,
    ):
        recorder = Recorder(meter, clock=time.monotonic, sleep=time.sleep, progress=progress)
        recording = recorder.record(
            settings,
            options.out,
            should_stop=interrupted.is_set,
            on_start=lambda identity, found, start: _save(options.out, RunFacts(identity, found)),
        )
        meter.local()
    added = []
    if options.auto_range and not fixed:
        text = f"Auto-range was chosen: {options.auto_range}"
        added.append(suspect("auto_range_reason", text))
    result = with_findings(recording.result, added)
    facts = RunFacts(recording.identity, recording.settings, added=tuple(added))
    saved = _save(options.out, facts.ended(result.session_s, recording.readings[-1]))
    if options.json:
        print_json(
            {
                "log": str(options.out),
                "identity": identity_to_json(recording.identity),
                "settings": settings_to_json(recording.settings),
                **result_to_json(result),
            }
        )
    else:
        print(result_text(result))
    good = recording.complete and saved and result.verdict is not Verdict.INVALID
    return 0 if good else 1


def _save(log: Path, facts: RunFacts) -> bool:
    """Save the facts; print an error for a full disk, which must not end the run."""
    try:
        save_facts(log, facts)
    except OSError as error:
        print(f"error: {facts_path(log)} is not written: {error}", file=sys.stderr)
        return False
    return True


@contextmanager
def _interruptible() -> Iterator[threading.Event]:
    """Turn Ctrl-C into a request to stop, so the integration is ended and judged."""
    asked = threading.Event()

    def ask(number: int, frame: FrameType | None) -> None:
        asked.set()

    previous = signal.signal(signal.SIGINT, ask)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, previous)


class _Bar(tqdm):  # type: ignore[type-arg]  # it counts; nothing is iterated
    """A progress bar without tqdm's thread, which would wake up while the meter is read."""

    monitor_interval = 0


@contextmanager
def _progress(seconds: int, *, quiet: bool) -> Iterator[Callable[[Reading, float], None]]:
    """Yield a function that draws a bar with the newest reading; no bar goes to a pipe."""
    bar = _Bar(
        total=seconds,
        bar_format="{l_bar}{bar}| {n:.1f} of {total} s{postfix}",
        disable=True if quiet else None,
        file=sys.stderr,
    )

    def draw(reading: Reading, elapsed_s: float) -> None:
        watts = "-" if reading.power_w is None else f"{reading.power_w:.4g}"
        energy = "-" if reading.energy_wh is None else f"{reading.energy_wh:.6g}"
        bar.set_postfix_str(f"{watts} W, {energy} Wh", refresh=False)
        bar.update(min(elapsed_s, float(seconds)) - bar.n)

    with bar:
        yield draw
