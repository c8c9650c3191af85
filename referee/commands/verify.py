# SPDX-License-Identifier: Apache-2.0
"""Verify an evidence bundle on any machine: compute everything in it again, and say what differs.

  referee verify session3.zip --ground-truth annotations.json
  referee verify session3.zip --ground-truth truth.csv --shadow --json
  referee verify session3.zip --ground-truth annotations.json --public-key event/signing.pub
  referee verify session3.zip

It needs the bundle, the ground truth and this program alone. The bundle holds the blacklist; one of
an earlier referee needs --blacklist. It checks every hash, stores the rows
of the session in an empty database again, writes each member anew, judges the energy again from the
readings and the meter's conversation, and scores the detections. If all of it holds, it prints what
does: session, team, contest, time and result, and who signed it. Otherwise it prints a line for
each thing that does not hold, and the exit code is 1.

Without --ground-truth everything is checked but the accuracy, and so the score. The line says so,
and names the file that is missing by its SHA-256.

A bundle chooses no code: its rules are one of the referee's own tracks. Other rules count only if
you name their module by --track. What a key given by --public-key has not signed is not looked at.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING

from referee.errors import InputError
from referee.programs.terminal import say, tell_on_terminal

if TYPE_CHECKING:
    from referee.service.evidence.verify import Verified


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    from referee.tracks.loading import TRACK_HELP, TRACK_OPTION

    add = parser.add_argument
    add("bundle", type=Path, metavar="FILE.zip", help="bundle that 'referee export' wrote")
    add(
        "--ground-truth",
        type=Path,
        metavar="PATH",
        help="the session's ground truth: COCO instances JSON, a folder of XML or of YOLO labels,"
        " or CSV; without it the score is not computed again",
    )
    add(
        "--blacklist",
        type=Path,
        metavar="PATH",
        help="the session's blacklist; for a bundle without one",
    )
    add(
        "--public-key",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="public key that must have signed the bundle: the event's signing.pub; may"
        " be repeated",
    )
    add("--slip", metavar="TEXT", help="the line on the team's slip, or in its QR code")
    add(
        "--shadow",
        action="store_true",
        help="score by a second path as well, which shares no reader, order or metric",
    )
    parser.add_argument(TRACK_OPTION, metavar="MODULE", help=TRACK_HELP)
    add(
        "--json",
        action="store_true",
        help="print one JSON object: what holds, and the findings",
    )


def run(args: argparse.Namespace) -> int:
    """Verify, print, and return 0 if all that was checked holds."""
    from referee.service.evidence.verify import Asked, verified

    if args.ground_truth is None and args.shadow:
        raise InputError("--shadow scores once more, so it needs --ground-truth.")
    outcome = verified(
        Asked(
            args.bundle,
            args.ground_truth,
            args.blacklist,
            public_keys=args.public_key,
            slip=args.slip,
            shadow=args.shadow,
            track=args.track,
        )
    )
    if args.json:
        print(json.dumps(_report(args, outcome)))
    elif outcome.findings:
        for finding in outcome.findings:
            tell_on_terminal(f"{finding.member or args.bundle.name}: {finding.what}")
        tell_on_terminal(f"{args.bundle} does not hold.")
    else:
        _say_what_holds(args, outcome)
    return 1 if outcome.findings else 0


def _report(args: argparse.Namespace, outcome: Verified) -> dict[str, object]:
    """Return the JSON object; what a bundle says of itself is null unless all of it holds."""
    from power.energy.verdict import finding_to_json
    from referee.service.evidence.what_holds import WhatHolds, session_of_name

    what = outcome.what
    names = [field.name for field in fields(WhatHolds) if field.name != "text"]
    return {
        "holds": not outcome.findings,
        "scored_again": args.ground_truth is not None,
        **{name: None if what is None else getattr(what, name) for name in names},
        "signature": outcome.signature.value,
        "session_of_name": session_of_name(args.bundle),
        "remarks": [finding_to_json(remark) for remark in outcome.remarks],
        "findings": [asdict(finding) for finding in outcome.findings],
    }


def _say_what_holds(args: argparse.Namespace, outcome: Verified) -> None:
    from referee.service.evidence.what_holds import session_of_name, signature_text

    signed = signature_text(outcome.signature, args.public_key)
    say(f"{args.bundle} holds: {_what(args)}; {signed}.")
    for remark in outcome.remarks:
        say(
            f"remark: by the rules of this version the energy would be {remark.severity.value}: "
            f"{remark.text}"
        )
    if outcome.what is not None:
        say(outcome.what.text)
        named = session_of_name(args.bundle)
        if named not in (None, outcome.what.session):
            tell_on_terminal(
                f"warning: the file's name says session {named}, and it holds session "
                f"{outcome.what.session}: somebody has renamed it."
            )


def _what(args: argparse.Namespace) -> str:
    """Return what holds, and what it takes to check the rest."""
    from referee.service.evidence.verify import truth_sha256

    if args.ground_truth is not None:
        return "every hash, row, energy, verdict and score"
    return (
        "every hash, row, energy and verdict. The score was NOT computed again: give the file with "
        f"SHA-256 {truth_sha256(args.bundle)} as --ground-truth"
    )
