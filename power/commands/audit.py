# SPDX-License-Identifier: Apache-2.0
"""`python -m power audit`: judge the energy in a log file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from power.commands.options import (
    add_condition_options,
    add_setting_options,
    conditions_of,
    settings_of,
)
from power.commands.output import phase_lines, print_json, result_text
from power.commands.seconds import some_seconds
from power.energy.verdict import Verdict, result_to_json
from power.meter import Identity, MeterSettings
from power.values import settings_to_json

if TYPE_CHECKING:
    from power.energy.judge import RunFacts

_DESCRIPTION = """\
Judge the energy in a power log (CSV or JSON lines), or in a log of the 2015 challenge (five
columns, no header). The settings come from the file LOG.json that `record` writes beside a log, or
from the options here. Without either the verdict is SUSPECT at best. Exit code 1 when the energy is
INVALID.

  python -m power audit run.csv
  python -m power audit old.csv --session 10m --volts 150 --amps 0.5
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's parser."""
    parser = commands.add_parser("audit", description=_DESCRIPTION)
    parser.add_argument("log", metavar="LOG", type=Path)
    parser.add_argument(
        "--session", type=some_seconds, metavar="DURATION", help="length of the session"
    )
    parser.add_argument("--model", help="the meter's model, such as WT310E, for its accuracy table")
    add_setting_options(parser)
    add_condition_options(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the verdict with its reasons."""
    from power.energy.phases import judged_phases, phases_to_json
    from power.energy.uncertainty import Measuring
    from power.logs.audit import audit
    from power.logs.marks import read_marks

    judged = audit(options.log, _given(options), conditions_of(options))
    facts = judged.facts
    measuring = Measuring(facts.identity, facts.settings, facts.conditions)
    phases = judged_phases(
        judged.result,
        judged.readings,
        read_marks(options.log),
        measuring,
        start_off_s=judged.start_off_s,
    )
    if options.json:
        print_json(
            {
                "log": str(options.log),
                "rows": judged.rows,
                "facts": judged.source,
                "settings": settings_to_json(judged.facts.settings),
                **result_to_json(judged.result),
                **({"phases": phases_to_json(phases)} if phases else {}),
            }
        )
    else:
        print(f"log      {options.log}: {judged.rows} rows, settings {judged.source}")
        print("\n".join([result_text(judged.result), *phase_lines(phases)]))
    return 1 if judged.result.verdict is Verdict.INVALID else 0


def _given(options: argparse.Namespace) -> RunFacts | None:
    """Return facts from the options, which must give the session's length and both ranges."""
    from power.energy.judge import RunFacts

    needed = (options.session, options.volts, options.amps)
    if all(value is None for value in (*needed, options.model)):
        return None
    if any(value is None for value in needed):
        raise ValueError("--session, --volts and --amps belong together; give all three")
    identity = Identity("YOKOGAWA", options.model, "", "") if options.model else None
    settings: MeterSettings = settings_of(options, round(options.session))
    return RunFacts(identity, settings, options.session)
