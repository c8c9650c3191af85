# SPDX-License-Identifier: Apache-2.0
"""`python -m power run`: run a command, and measure the energy that it takes above idle."""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from power.commands.any_meter import any_meter
from power.commands.child import MeasuredCommand
from power.commands.interrupt import Interrupt, listening_by_number
from power.commands.live_view import ShowsNothing
from power.commands.options import (
    add_condition_options,
    add_discard_option,
    add_meter_options,
    add_setting_options,
    conditions_of,
    settings_of,
)
from power.commands.output import finding_line, phase_lines, print_json, say
from power.commands.seconds import some_seconds
from power.commands.written_file import file_to_write
from power.energy.verdict import (
    EnergyResult,
    Finding,
    Verdict,
    finding_to_json,
    invalid,
    with_findings,
)
from power.logs.journal import journal
from power.meter import Identity, MeterSettings, Reading
from power.resource import is_official
from power.values import identity_to_json, settings_to_json
from power.wt310.models import MOST_TIMER_S, require_settable_by_any

if TYPE_CHECKING:
    from power.bench.command_course import CommandCourse
    from power.bench.recorder import Recording
    from power.energy.above_idle import NetEnergy
    from power.energy.judge import RunFacts

_DESCRIPTION = """\
Measure how much energy a command takes. The device behind the meter is measured while it is idle,
then the command runs, then idle again. The net energy is what the device took above its idle power,
with a ± that counts the meter's errors and the idle power's own changes. With --count N the net
energy is divided: joules for each of the N things that the command did.

The command runs on this computer. If another device is behind the meter, let it start the work
there and wait: ssh BOARD ./bench. Its exit status is that of `run`, or 1 if there is no usable
energy. With --json its standard output goes to standard error, so standard output is one object.

Ctrl-C and SIGTERM go to the command, and the idle time after it is still measured. The second one
kills the command and ends the measurement. The readings are kept only with --out, or if something
went wrong. `record --help` tells the rest: nothing that a meter holds is wiped.

  python -m power run TCPIP::10.0.0.5::INSTR --volts 150 --amps 0.5 -- ssh board ./bench
  python -m power run TCPIP::10.0.0.5::INSTR --idle 30 --count 1000 --json -- ./classify images
"""

_DEFAULT_IDLE_S = 10.0
# These notes are about the whole integration, most of which may be idle time.
_OF_THE_WHOLE = ("spec_1_percent", "readings_over_1_percent", "uncertain")


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's parser."""
    parser = commands.add_parser(
        "run",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="python -m power run RESOURCE [options] -- COMMAND ...",
    )
    add_meter_options(parser)
    parser.add_argument(
        "words", metavar="COMMAND", nargs="+", help="the command with its arguments, behind --"
    )
    add_setting_options(parser)
    parser.add_argument(
        "--idle",
        metavar="DURATION",
        type=some_seconds,
        default=_DEFAULT_IDLE_S,
        help=f"idle time before and after the command (default: {_DEFAULT_IDLE_S:g})",
    )
    parser.add_argument(
        "--count",
        metavar="N",
        type=_count,
        help="how many things the command does, for joules each; one that fails has none",
    )
    parser.add_argument(
        "--out",
        metavar="LOG",
        type=file_to_write,
        help="keep the readings in this new file, as `record`",
    )
    add_condition_options(parser)
    add_discard_option(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress on stderr")
    # The meter's longest timer: the command's own length is not known.
    parser.set_defaults(run=run, seconds=MOST_TIMER_S)


@dataclass(frozen=True)
class _Measured:
    """A measured command: the judged integration, and what the command took, if that is known."""

    result: EnergyResult
    net: NetEnergy | None
    exit: int | None

    @property
    def usable(self) -> bool:
        """Tell whether there is an energy of the command."""
        return self.net is not None and self.result.verdict is not Verdict.INVALID

    def joules_each(self, count: int) -> tuple[float | None, float | None]:
        """Return the joules for one of so many things, and their limit of error.

        Both are None where the command failed: nobody knows how many of them it has done.
        """
        if self.net is None or self.exit != 0:
            return None, None
        limit_wh = self.net.net_uncertainty_wh
        return (
            self.net.net_energy_wh * 3600 / count,
            None if limit_wh is None else limit_wh * 3600 / count,
        )


class _Progress(ShowsNothing):
    """Leads the course on by the readings, and tells people where it is."""

    def __init__(self, course: CommandCourse, quiet: bool, idle_s: float) -> None:
        self._course = course
        self._quiet = quiet
        self._idle_s = idle_s

    def begin(self, identity: Identity, settings: MeterSettings) -> None:
        """Begin the course."""
        self._course.begin(settings)
        if not self._quiet:
            say(f"idle     {self._idle_s:g} s, then the command, then {self._idle_s:g} s again")

    def add(self, reading: Reading, elapsed_s: float) -> None:
        """Go on by a reading."""
        self._course.see(reading)


def run(options: argparse.Namespace) -> int:
    """Measure one command, and unlock the meter's front panel at the end."""
    from power.bench.command_course import CommandCourse
    from power.bench.run_notes import RunPlace
    from power.commands.recording_job import InterruptibleNotes, left_behind, recorded

    _check(options)
    child = MeasuredCommand(options.words, quiet_stdout=options.json)
    course = CommandCourse(child, options.idle)
    interrupt = Interrupt()

    def answer(number: int) -> None:
        if not child.take(number):
            interrupt.ask()

    with listening_by_number(answer), _log_place(options) as log:
        options.out = log.path
        place = RunPlace(log.path, options.resource, journal())
        notes = InterruptibleNotes(place, interrupt, conditions_of(options))
        try:
            with any_meter(options, sleep=interrupt.sleep, asked_s=interrupt.since_s) as meter:
                recording = recorded(
                    meter,
                    options,
                    interrupt,
                    notes,
                    lambda elapsed_s, text, total_s=None: None,
                    _Progress(course, options.quiet, options.idle),
                    over=course.over,
                    look=child.look,
                )
        finally:
            child.finish()
        measured, facts = _judged(recording, course, child, options)
        result = None
        if recording.readings:
            done = recording.complete and not recording.left
            facts = facts.ended(facts.session_s if done else None, recording.readings[-1])
            result = recording.fetched if done else None
        saved = notes.finish(facts, result)
        log.keep = log.keep or not (measured.usable and saved and recording.complete)
        if recording.left:
            say(left_behind(recording, options.resource))
        _print(options, recording, measured, log)
    if not measured.usable or measured.exit is None:
        return 1
    return measured.exit


def _check(options: argparse.Namespace) -> None:
    """Refuse wrong options before the meter is touched."""
    from power.commands.recording_job import require_new
    from power.energy.above_idle import IDLE_LEAST

    if options.idle < IDLE_LEAST * options.update:
        raise ValueError(
            f"--idle {options.idle:g} is too short for updates of {options.update:g} s: give at "
            f"least {IDLE_LEAST * options.update:g}, or a shorter --update"
        )
    if is_official(options.resource):
        require_settable_by_any(settings_of(options, options.seconds))
    if options.out is not None:
        require_new(options.out)


def _judged(
    recording: Recording, course: CommandCourse, child: MeasuredCommand, options: argparse.Namespace
) -> tuple[_Measured, RunFacts]:
    """Judge the integration and the command together."""
    from power.energy.above_idle import net_energy
    from power.energy.judge import RunFacts, judge_run
    from power.energy.uncertainty import Measuring

    conditions = conditions_of(options)
    # That nothing was drawn while the device was idle is no finding.
    facts = RunFacts(
        recording.identity,
        recording.settings,
        recording.result.session_s,
        suspended_s=recording.suspended_s,
        active=False,
        conditions=conditions,
        stopped_s=recording.stopped_s,
    )
    left = [finding for finding in recording.result.findings if finding.code == "left"]
    measuring = Measuring(recording.identity, recording.settings, conditions)
    net = None if course.span is None else net_energy(recording.readings, course.span, measuring)
    findings = (*left, *_findings(course, child, net))
    if recording.readings:
        facts = facts.ended(recording.result.session_s, recording.readings[-1])
        result = with_findings(judge_run(recording.readings, facts), findings)
    else:
        result = with_findings(recording.result, findings)
    usable = result.verdict is not Verdict.INVALID
    return _Measured(result, net if usable else None, child.exit), replace(facts, added=findings)


def _findings(
    course: CommandCourse, child: MeasuredCommand, net: NetEnergy | None
) -> tuple[Finding, ...]:
    """Return the findings about the command and its net energy."""
    if child.trouble:
        return (invalid("command_not_started", f"{child.trouble}."),)
    if course.span is None:
        return (invalid("command_not_run", "The measurement ended before the command was run."),)
    if net is None:
        return (
            invalid(
                "no_idle_power",
                "The meter gave too few readings before and after the command, so its energy "
                "above idle is not known. Run it again.",
            ),
        )
    return net.findings


class _LogPlace:
    """Where the readings go, and whether they are kept."""

    def __init__(self, path: Path, keep: bool) -> None:
        self.path = path
        self.keep = keep


@contextmanager
def _log_place(options: argparse.Namespace) -> Iterator[_LogPlace]:
    """Yield the named log, or one in a folder that is removed unless the log must be kept."""
    if options.out is not None:
        yield _LogPlace(options.out, keep=True)
        return
    folder = Path(tempfile.mkdtemp(prefix="power-run-"))
    place = _LogPlace(folder / "run.csv", keep=False)
    try:
        yield place
    except BaseException:
        # Nothing was recorded if there is no log; otherwise `rescue` finishes it.
        place.keep = place.path.exists()
        raise
    finally:
        if not place.keep:
            shutil.rmtree(folder, ignore_errors=True)


def _print(
    options: argparse.Namespace, recording: Recording, measured: _Measured, log: _LogPlace
) -> None:
    from power.energy.phases import judged_phases, phases_to_json
    from power.energy.uncertainty import Measuring
    from power.logs.marks import read_marks

    findings = [one for one in measured.result.findings if one.code not in _OF_THE_WHOLE]
    kept = str(log.path) if log.keep else None
    measuring = Measuring(recording.identity, recording.settings, conditions_of(options))
    start = recording.start
    phases = judged_phases(
        measured.result,
        recording.readings,
        read_marks(log.path, start.sent_s),
        measuring,
        start.sent_s,
        start_off_s=start.written_s - start.sent_s,
    )
    if options.json:
        print_json(
            {
                **_net_values(measured, options.count),
                "verdict": measured.result.verdict.value,
                "exit": measured.exit,
                "command": options.words,
                "findings": [finding_to_json(finding) for finding in findings],
                **({"phases": phases_to_json(phases)} if phases else {}),
                "log": kept,
                "identity": identity_to_json(recording.identity),
                "settings": settings_to_json(recording.settings),
            }
        )
        return
    lines = [*_net_lines(measured, options.count), *phase_lines(phases)]
    print("\n".join([*lines, *map(finding_line, findings)]))
    if kept is not None:
        print(f"log      {kept}")


def _net_values(measured: _Measured, count: int | None) -> dict[str, object]:
    """Return the energies as JSON values; null where there is none."""
    net = measured.net
    limit_wh = None if net is None else net.net_uncertainty_wh
    value: dict[str, object] = {
        "seconds": None if net is None else net.seconds,
        "energy_wh": None if net is None else net.energy_wh,
        "idle_w": None if net is None else net.idle_w,
        "idle_before_w": None if net is None else net.idle_before_w,
        "idle_after_w": None if net is None else net.idle_after_w,
        "net_energy_wh": None if net is None else net.net_energy_wh,
        "net_uncertainty_wh": limit_wh,
        "net_budget_wh": {} if net is None else net.terms_wh,
    }
    if count is not None:
        each_j, limit_j = measured.joules_each(count)
        value |= {"count": count, "joules_each": each_j, "joules_each_uncertainty": limit_j}
    return value


def _net_lines(measured: _Measured, count: int | None) -> list[str]:
    """Return the energies as lines for people."""
    verdict, net = measured.result.verdict.value, measured.net
    ended = "did not run" if measured.exit is None else f"exit status {measured.exit}"
    if net is None:
        return [f"net      none ({verdict})", f"command  {ended}"]
    limit_wh = net.net_uncertainty_wh
    lines = [
        f"net      {net.net_energy_wh:.6g} Wh"
        + ("" if limit_wh is None else f" ± {limit_wh:.2g} Wh")
        + f" ({verdict})"
    ]
    if count is not None:
        each_j, limit_j = measured.joules_each(count)
        plus = "" if limit_j is None else f" ± {limit_j:.2g} J"
        lines.append(
            f"each     none: with {ended} nobody knows how many of the {count} it has done"
            if each_j is None
            else f"each     {each_j:.4g} J{plus}, one of {count}"
        )
    lines.append(
        f"command  {net.energy_wh:.6g} Wh in {net.seconds:.3f} s, {ended}; idle at "
        f"{net.idle_w:.4g} W"
    )
    used = sorted(((wh, name) for name, wh in net.terms_wh.items() if wh > 0), reverse=True)
    if used:
        lines.append(f"± terms  {', '.join(f'{name} {wh:.2g}' for wh, name in used)} (Wh)")
    return lines


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of things from 1 on")
    return int(text)
