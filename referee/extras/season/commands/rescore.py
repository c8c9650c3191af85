# SPDX-License-Identifier: Apache-2.0
"""Score many evidence bundles again, under other rules or another ground truth.

  referee rescore season/ --ground-truth annotations.json --rules voc --out season.jsonl
  referee rescore tokyo/ paris/ --ground-truth truth.csv --rules devkit --rules voc --out all.jsonl
  referee rescore season/ --ground-truth annotations.json --out season.jsonl \\
    --dask tls://10.0.0.1:8786 --tls-ca-file ca.pem --tls-cert client.pem --tls-key client.key

FILE gets a line of JSON for each bundle and set of rules: the bundle's own score, the new one,
their intervals, and what it takes to compare it with others. The bytes are the same for any number
of workers. Rows already in FILE stay, so other rules come beside them. Give a command that was
stopped again, and it continues where it was. A bundle that cannot be scored gets a row with the
reason, and the exit code is then 1. No bundle is changed, and none chooses code: rules other than
the referee's own count only with --track. A bundle that is not what was signed is not scored; with
--public-key one of these keys must have signed it.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from power.commands.written_file import file_to_write
from referee.core.counts import counted
from referee.errors import InputError
from referee.extras.season.bundle_files import find_bundles
from referee.extras.season.choices import RESAMPLES
from referee.extras.season.executor import Executor
from referee.extras.season.journal import SeasonJournal
from referee.extras.season.rows import BROKEN
from referee.extras.season.workers.cluster import Cluster, ClusterTls
from referee.programs.progress import StatusLine
from referee.programs.terminal import tell_on_terminal
from referee.scoring import RULE_SETS
from referee.tracks.loading import TRACK_HELP, TRACK_OPTION, trusted_tracks

if TYPE_CHECKING:
    from referee.extras.season.rescoring import Season

_TOLD = 20
_MOST_DRAWS = 1_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("bundles", type=Path, nargs="+", metavar="DIR", help="folder of bundles, or a bundle")
    add(
        "--out",
        type=file_to_write,
        required=True,
        metavar="FILE",
        help="the season's file, JSON lines",
    )
    add(
        "--rules",
        choices=tuple(RULE_SETS),
        action="append",
        help="the rules of the new score; may be repeated (default: devkit)",
    )
    add(
        "--resamples",
        type=_count,
        default=RESAMPLES,
        metavar="N",
        help=f"draws of the images for the intervals (default: {RESAMPLES})",
    )
    add("--seed", type=int, default=0, metavar="N", help="seed of all draws (default: 0)")
    add(
        "--public-key",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a bundle counts only if this key has signed it, an event's signing.pub; may"
        " be repeated: one of them is enough",
    )
    parser.add_argument(TRACK_OPTION, metavar="MODULE", help=TRACK_HELP)
    add("--json", action="store_true", help="print one JSON object: counts, and what is broken")
    _add_truth(parser)
    _add_workers(parser)


def _add_truth(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("ground truth").add_argument
    add(
        "--ground-truth",
        type=Path,
        required=True,
        metavar="PATH",
        help="COCO instances JSON, a folder of XML or of YOLO labels, or CSV",
    )
    add(
        "--images",
        type=Path,
        metavar="PATH",
        help="for CSV: the list image_id,width,height; for YOLO labels: the folder of the images"
        " (default: where their tool keeps them)",
    )
    add("--blacklist", type=Path, metavar="PATH", help="CSV image_id,class_id")
    add("--classes", type=int, metavar="N", help="the class list is 1 to N, as the contest's was")


def _add_workers(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("workers")
    exclusive = group.add_mutually_exclusive_group()
    exclusive.add_argument(
        "--jobs",
        type=_count,
        metavar="N",
        help="processes on this machine (default: one for each processor)",
    )
    exclusive.add_argument(
        "--dask", metavar="ADDRESS", help="a Dask scheduler; each worker sees the same paths"
    )
    for name, what in (
        ("--tls-ca-file", "certificate of the cluster's authority"),
        ("--tls-cert", "certificate of this client"),
        ("--tls-key", "its private key"),
    ):
        group.add_argument(name, type=Path, metavar="FILE", help=f"{what}, for tls:// (PEM)")


def run(args: argparse.Namespace) -> int:
    """Score, write the file, and return 1 if a bundle is broken."""
    from referee.extras.season.fitting import truth_digest
    from referee.extras.season.rescoring import SeasonRequest, rescore
    from referee.extras.season.tasks import TruthFiles
    from referee.extras.season.workers.status import Status
    from referee.service.setup.signing_key import read_public_key

    trusted_tracks(args.track)  # Here a wrong name is wrong use; in a worker it would be a row.
    for key in args.public_key:
        read_public_key(key)
    executor = _executor(args)
    bundles = find_bundles(args.bundles)
    # Another process, or another machine, has another working directory.
    path, images, blacklist = (
        path and Path(os.path.abspath(path))
        for path in (args.ground_truth, args.images, args.blacklist)
    )
    keys = tuple(Path(os.path.abspath(key)) for key in args.public_key)
    truth = TruthFiles(path, images, blacklist, args.classes)
    rules = tuple(dict.fromkeys(RULE_SETS[name] for name in args.rules or ["devkit"]))
    digest = truth_digest(truth.read())
    asked = SeasonRequest(truth, digest, rules, args.seed, args.resamples, args.track, keys)
    line = StatusLine(every_s=30.0)
    try:
        with SeasonJournal(args.out) as journal:
            season = rescore(bundles, asked, executor, journal, Status(line.show).tell)
    except KeyboardInterrupt:
        line.clear()
        tell_on_terminal("What is done is kept: the same command continues from there.")
        raise
    finally:
        line.clear()
    return _report(args, len(bundles), season)


def _cores() -> int:
    """Return how many cores this process may use; macOS pins no process, so it may use all."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _executor(args: argparse.Namespace) -> Executor:
    from referee.extras.season.workers.processes import Processes

    tls = (args.tls_ca_file, args.tls_cert, args.tls_key)
    if args.dask is None:
        if any(tls):
            raise InputError("--tls-… are the files of a cluster: add --dask tls://HOST:8786")
        return Processes(args.jobs or _cores())
    if any(tls) and not all(tls):
        raise InputError("give all of --tls-ca-file, --tls-cert and --tls-key, or none of them")
    for path in filter(None, tls):
        if not path.is_file():
            raise InputError(f"{path} does not exist")
    if not args.dask.startswith("tls://"):
        tell_on_terminal(
            f"{args.dask} is not encrypted: whoever reaches that cluster can run programs on it."
        )
    return Cluster(args.dask, ClusterTls(*tls) if all(tls) else None)


def _report(args: argparse.Namespace, bundles: int, season: Season) -> int:
    # A bundle has a row for each set of rules, and most often one reason.
    broken = sorted(
        {(row["file"], row["reason"]) for row in season.rows if row["status"] == BROKEN}
    )
    known = [row["reproduces"] for row in season.rows if row["reproduces"] is not None]
    report = {
        "bundles": bundles,
        "rows": len(season.rows),
        "kept": season.kept,
        "broken": [{"file": file, "reason": reason} for file, reason in broken],
        "own_rules": len(known),
        "reproduced": sum(known),
        "out": str(args.out),
    }
    if args.json:
        print(json.dumps(report))
    else:
        print(
            f"bundles: {bundles}, rows: {len(season.rows)}, of them from before: {season.kept},"
            f" not scored: {len(broken)}. Wrote {args.out}."
        )
        if known:
            print(
                f"{sum(known)} of {counted(len(known), 'row')} with the bundle's own rules "
                f"{'has' if len(known) == 1 else 'have'} its own mAP,"
                " to the last digit."
            )
    for file, reason in broken[:_TOLD]:
        tell_on_terminal(f"{file}: {reason}")
    if len(broken) > _TOLD:
        tell_on_terminal(f"and {len(broken) - _TOLD} more, see 'reason' in {args.out}")
    return 1 if broken else 0


def _count(text: str) -> int:
    number = int(text)
    if not 1 <= number <= _MOST_DRAWS:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 1 to {_MOST_DRAWS}")
    return number
