# SPDX-License-Identifier: Apache-2.0
"""Verify an evidence bundle on any machine: compute everything in it again, and say what differs.

  referee verify session3.zip --ground-truth annotations.json
  referee verify session3.zip --ground-truth truth.csv --shadow --json
  referee verify session3.zip --ground-truth annotations.json --public-key event/signing.pub

It needs the bundle, the ground truth and this program alone. The bundle holds the blacklist; one of
an earlier referee needs --blacklist. It checks every hash, stores the rows
of the session in an empty database again, writes each member anew, judges the energy again from the
readings and the meter's conversation, and scores the detections. It prints one line if all of it
holds. Otherwise it prints a line for each thing that does not, and the exit code is 1.

A bundle chooses no code: its rules are one of the referee's own tracks. Other rules count only if
you name their module by --track. What a key given by --public-key has not signed is not looked at.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from referee.programs.terminal import say, tell_on_terminal
from referee.service.evidence.verify import verify_bundle
from referee.tracks.loading import TRACK_HELP, TRACK_OPTION


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("bundle", type=Path, metavar="FILE.zip", help="bundle that 'referee export' wrote")
    add(
        "--ground-truth",
        type=Path,
        required=True,
        metavar="PATH",
        help="the session's ground truth: COCO instances JSON, a folder of XML, or CSV",
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
        help="public key that must have signed the bundle: the event's signing.pub; may repeat",
    )
    add("--slip", metavar="TEXT", help="the line on the team's slip, or in its QR code")
    add(
        "--shadow",
        action="store_true",
        help="score by a second path as well, which shares no reader, order or metric",
    )
    parser.add_argument(TRACK_OPTION, metavar="MODULE", help=TRACK_HELP)
    add("--json", action="store_true", help="print one JSON object: holds, findings")


def run(args: argparse.Namespace) -> int:
    """Verify, print, and return 0 if all of it holds."""
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
        told = {"holds": not findings, "findings": [asdict(finding) for finding in findings]}
        print(json.dumps(told))
    elif findings:
        for finding in findings:
            tell_on_terminal(f"{finding.member or args.bundle.name}: {finding.what}")
        tell_on_terminal(f"{args.bundle} does not hold.")
    else:
        signed = "signed by every key given" if args.public_key else "the signature was not checked"
        say(f"{args.bundle} holds: every hash, row, energy, verdict and score; {signed}.")
    return 1 if findings else 0
