# SPDX-License-Identifier: Apache-2.0
"""Verify an evidence bundle on any machine: compute everything in it again, and say what differs.

  referee verify session3.zip --ground-truth annotations.json
  referee verify session3.zip --ground-truth truth.csv --shadow --json
  referee verify session3.zip --ground-truth annotations.json --public-key event/signing.pub
  referee verify session3.zip

It needs the bundle, the ground truth and this program alone. The bundle holds the blacklist; one of
an earlier referee needs --blacklist. It checks every hash, stores the rows
of the session in an empty database again, writes each member anew, judges the energy again from the
readings and the meter's conversation, and scores the detections. It prints one line if all of it
holds. Otherwise it prints a line for each thing that does not, and the exit code is 1.

Without --ground-truth everything is checked but the accuracy, and so the score. The line says so,
and names the file that is missing by its SHA-256.

A bundle chooses no code: its rules are one of the referee's own tracks. Other rules count only if
you name their module by --track. What a key given by --public-key has not signed is not looked at.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from referee.errors import InputError
from referee.programs.terminal import say, tell_on_terminal


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
    add("--json", action="store_true", help="print one JSON object: holds, scored_again, findings")


def run(args: argparse.Namespace) -> int:
    """Verify, print, and return 0 if all that was checked holds."""
    from referee.service.evidence.verify import verify_bundle

    if args.ground_truth is None and args.shadow:
        raise InputError("--shadow scores once more, so it needs --ground-truth.")
    findings = verify_bundle(
        args.bundle,
        args.ground_truth,
        args.blacklist,
        public_keys=args.public_key,
        slip=args.slip,
        shadow=args.shadow,
        track=args.track,
    )
    if args.json:
        report = {
            "holds": not findings,
            "scored_again": args.ground_truth is not None,
            "findings": [asdict(finding) for finding in findings],
        }
        print(json.dumps(report))
    elif findings:
        for finding in findings:
            tell_on_terminal(f"{finding.member or args.bundle.name}: {finding.what}")
        tell_on_terminal(f"{args.bundle} does not hold.")
    else:
        signed = "signed by every key given" if args.public_key else "the signature was not checked"
        say(f"{args.bundle} holds: {_what(args)}; {signed}.")
    return 1 if findings else 0


def _what(args: argparse.Namespace) -> str:
    """Return what holds, and what it takes to check the rest."""
    from referee.service.evidence.verify import truth_sha256

    if args.ground_truth is not None:
        return "every hash, row, energy, verdict and score"
    return (
        "every hash, row, energy and verdict. The score was NOT computed again: give the file with "
        f"SHA-256 {truth_sha256(args.bundle)} as --ground-truth"
    )
