# SPDX-License-Identifier: Apache-2.0
"""`python -m power record`: run one integration into a power log, and judge its energy."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from power.commands.any_meter import any_meter
from power.commands.interrupt import Interrupt, listening
from power.commands.live_view import (
    TERMINAL,
    add_live_options,
    page_socket,
    shown_live,
)
from power.commands.options import (
    add_condition_options,
    add_discard_option,
    add_meter_options,
    add_quantity_options,
    add_setting_options,
    chosen_quantities,
    conditions_of,
    settings_of,
)
from power.commands.output import (
    begun_line,
    begun_to_json,
    phase_lines,
    print_json,
    result_text,
    say,
)
from power.commands.seconds import whole_seconds
from power.energy.verdict import (
    EnergyResult,
    Finding,
    Verdict,
    note,
    result_to_json,
    suspect,
    with_findings,
)
from power.logs.journal import journal
from power.meter import IntegrationState
from power.resource import is_official
from power.values import identity_to_json, settings_to_json
from power.wt310.models import MOST_TIMER_S, require_settable_by_any

if TYPE_CHECKING:
    from power.bench.recorder import Recording
    from power.energy.phases import RunPhase

_DESCRIPTION = """\
Reset the meter, set it up, and integrate for --seconds by the meter's own timer. Every reading goes
to a file as it comes, as CSV or as JSON lines. At the end it prints energy and verdict. Ctrl-C or
SIGTERM ends the integration early and still judges it. If the meter does not answer then, the
command ends within two seconds, and `rescue` fetches the energy later. A second Ctrl-C ends it at
once. While the disk is full the readings wait in memory. A meter that holds a result which nobody
has fetched is not reset, unless you give --discard. A meter of another kind than a WT310 is
sampled, and this program integrates: such an energy is SUSPECT at best, and lost if the program is
killed. Exit code 1 when the energy is INVALID, or when the files could not be written.

With --live a page in the browser shows power, energy, both curves, gaps and warnings while the run
lasts; Prometheus finds the same figures at /metrics beside the page.

  python -m power record TCPIP::10.0.0.5::INSTR --seconds 600 --volts 150 --amps 0.5 --out run.csv
  python -m power record TCPIP::10.0.0.5::INSTR --until-stopped --items S,UTHD,IK3 --out night.csv
  python -m power record TCPIP::10.0.0.5::INSTR --expect bidirectional --out cycle.csv
  python -m power record shelly:192.0.2.7 --seconds 600 --out rehearsal.csv
"""

_DEFAULT_S = 60
# The code of an official energy that is refused.
_REFUSED = "official_bound"
# How a run ends before its timer.
_BY_HAND = (IntegrationState.STOP, IntegrationState.RESET)


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's parser."""
    parser = commands.add_parser(
        "record",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_meter_options(parser)
    add_setting_options(parser)
    add_quantity_options(parser)
    length = parser.add_mutually_exclusive_group()
    length.add_argument(
        "--seconds",
        type=whole_seconds,
        metavar="DURATION",
        default=_DEFAULT_S,
        help=f"length of the run, in whole seconds (default: {_DEFAULT_S})",
    )
    length.add_argument(
        "--until-stopped",
        dest="seconds",
        action="store_const",
        const=MOST_TIMER_S,
        help="go on until Ctrl-C or SIGTERM, or the meter's longest timer, 10,000 hours",
    )
    parser.add_argument(
        "--out",
        metavar="LOG",
        type=Path,
        required=True,
        help="a new file for the readings: LOG.csv, or LOG.jsonl for JSON lines; settings and "
        "identity go into LOG.json beside it",
    )
    parser.add_argument(
        "--gzip",
        action="store_true",
        help="pack the log after the run, into LOG.csv.gz; audit and plot read it as it is",
    )
    parser.add_argument(
        "--official",
        action="store_true",
        help="refuse auto-range, and an uncertainty above 1 %% without --above-1-percent",
    )
    parser.add_argument(
        "--above-1-percent",
        metavar="REASON",
        help="reason for an official run whose uncertainty is above the 1 %% that SPEC asks for",
    )
    add_condition_options(parser)
    add_discard_option(parser)
    add_live_options(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress on stderr")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Record once, and unlock the meter's front panel at the end."""
    from power.bench.run_notes import RunPlace
    from power.commands.progress import progress_line
    from power.commands.recording_job import InterruptibleNotes, left_behind, recorded
    from power.energy.judge import RunFacts

    _check(options)
    conditions = conditions_of(options)
    page = page_socket(options)
    interrupt = Interrupt()
    place = RunPlace(options.out, options.resource, journal())
    with (
        listening(interrupt.ask),
        any_meter(options, sleep=interrupt.sleep, asked_s=interrupt.since_s) as meter,
        shown_live(options.live, page, options.out) as shown,
        progress_line(_total_s(options), quiet=options.quiet or options.live == TERMINAL) as draw,
    ):
        notes = InterruptibleNotes(place, interrupt, conditions)
        recording = recorded(meter, options, interrupt, notes, draw, shown)
        bound = official_bound(recording.result, options.official, options.above_1_percent)
        result = with_findings(recording.result, bound)
        shown.end(result)
    facts = RunFacts(
        recording.identity,
        recording.settings,
        suspended_s=recording.suspended_s,
        added=tuple(bound),
        conditions=conditions,
        stopped_s=recording.stopped_s,
    )
    held_result = None
    if recording.readings:
        # Without its result, or with rows missing on a full disk, a log is left for `rescue`.
        done = recording.complete and not recording.left
        facts = facts.ended(result.session_s if done else None, recording.readings[-1])
        if done:
            held_result = recording.fetched
    saved = notes.finish(facts, held_result)
    if recording.left:
        say(left_behind(recording, options.resource))
    elif recording.result.end_state in _BY_HAND and not interrupt.asked():
        say(
            "somebody ended the integration before its timer. If it is started again, fetch what "
            f"the meter holds then: python -m power rescue {options.resource}"
        )
    phases = _phases(options, recording, result)
    # An unfinished log is left for `rescue`, which goes on with it.
    if options.gzip and recording.complete and saved and not recording.left:
        options.out = _packed(options.out)
    _print(options, recording, result, phases)
    good = recording.complete and saved and result.verdict is not Verdict.INVALID
    refused = any(finding.code == _REFUSED for finding in bound)
    return 0 if good and not recording.left and not refused else 1


def official_bound(result: EnergyResult, official: bool, reason: str | None) -> list[Finding]:
    """Return the finding about an official energy that is less certain than SPEC asks for.

    Without a reason the energy is refused: SUSPECT, and the command's exit code is 1.
    """
    above = any(finding.code == "spec_1_percent" for finding in result.findings)
    if not official or not above:
        return []
    if reason:
        return [note("above_1_percent_reason", f"More than 1 % was accepted: {reason}")]
    return [
        suspect(
            _REFUSED,
            "An official run may be 1 % uncertain at most. Choose smaller ranges with `python -m "
            "power range` and run again, or give --above-1-percent REASON.",
        )
    ]


def _check(options: argparse.Namespace) -> None:
    """Refuse wrong options before the meter is touched."""
    from power.commands.recording_job import require_new

    settings = settings_of(options, options.seconds)
    if is_official(options.resource):
        require_settable_by_any(settings)
    elif chosen_quantities(options):
        raise ValueError(
            f"{options.resource} is sampled: it has power alone, so leave --items and --expect "
            "out, or use a WT310"
        )
    if options.official and not is_official(options.resource):
        raise ValueError(
            f"{options.resource} is not an official meter: leave --official out, or use a WT310"
        )
    if options.official and None in (options.volts, options.amps):
        raise ValueError(
            "an official run needs fixed ranges. Give --volts and --amps as `python -m power "
            "range` proposes them"
        )
    require_new(options.out)


def _packed(log: Path) -> Path:
    """Pack a log, and return its path; a full disk leaves it as it is."""
    from power.logs.packed import pack

    whole_bytes = log.stat().st_size
    try:
        packed = pack(log)
    except OSError as error:
        say(f"warning: the log stays unpacked: {error}")
        return log
    share = packed.stat().st_size / whole_bytes
    say(f"packed   {packed}, {100 * share:.0f} % of {whole_bytes} bytes")
    return packed


def _total_s(options: argparse.Namespace) -> float | None:
    """Return how long the run is to be, None if somebody ends it."""
    return None if options.seconds == MOST_TIMER_S else options.seconds


def _phases(
    options: argparse.Namespace, recording: Recording, result: EnergyResult
) -> tuple[RunPhase, ...]:
    """Return the phases between the marks that other programs have made."""
    from power.energy.phases import judged_phases
    from power.energy.uncertainty import Measuring
    from power.logs.marks import read_marks

    measuring = Measuring(recording.identity, recording.settings, conditions_of(options))
    start = recording.start
    return judged_phases(
        result,
        recording.readings,
        read_marks(options.out, start.sent_s),
        measuring,
        start.sent_s,
        start_off_s=start.written_s - start.sent_s,
    )


def _print(
    options: argparse.Namespace,
    recording: Recording,
    result: EnergyResult,
    phases: tuple[RunPhase, ...],
) -> None:
    from power.energy.phases import phases_to_json
    from power.logs.facts_file import load_course

    course = load_course(options.out)
    if not options.json:
        begun = [] if course is None else [begun_line(course.start_utc)]
        print("\n".join([result_text(result), *phase_lines(phases), *begun]))
        return
    print_json(
        {
            "log": str(options.out),
            **({} if course is None else begun_to_json(course.start_utc)),
            "identity": identity_to_json(recording.identity),
            "settings": settings_to_json(recording.settings),
            **result_to_json(result),
            **({"phases": phases_to_json(phases)} if phases else {}),
        }
    )
