# SPDX-License-Identifier: Apache-2.0
"""Run a rehearsal referee: any user name, the password 'practice', a new session at each login.

A line that starts with 'ready' means that contestants can log in. The command prints the score of
each session after its end. Ctrl-C stops everything, and so does a closed window. The folder --data
keeps all results.

  referee practice --images photos --ground-truth annotations.json
  referee practice --images photos --labels labels
  referee practice --track camera --images photos --ground-truth annotations.json

On the camera track, open the console's page /display on a monitor, let it fill the screen, and look
at it through your own camera.

  python -m client_sample.client --user me --password practice --answers detections.json

With --config an event's teams rehearse before their turn: at the event's addresses, with its meter,
and with their own passwords. Only the images differ: they are those of the section [practice].
'referee team list' and the console's pages tell what a team has rehearsed. The event's own servers
must be stopped meanwhile. As in an event, press Ctrl-C twice to stop it while a session runs.
Closing the window stops nothing.

  referee practice --config event/contest.toml
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from power.commands.seconds import some_seconds, whole_seconds
from referee.commands.options import VARIABLE, environment_config
from referee.errors import InputError
from referee.programs.emulator import range_for
from referee.programs.ending import ended_on_purpose
from referee.programs.failed_start import FolderBefore
from referee.programs.practice_folder import PRACTICE_DATA, folder_for, practice_config
from referee.programs.terminal import say
from referee.service.board.addresses import certificate_hosts
from referee.service.setup.config import Config, ContestSection, ImagesSection, ServerSection
from referee.service.setup.config_file import load_config
from referee.service.setup.contest import Contest, open_contest
from referee.service.setup.image_counts import counts_text
from referee.service.setup.lane_config import MeterSection
from referee.service.setup.real_path import real_path

if TYPE_CHECKING:
    from referee.core.ground_truth import GroundTruth
    from referee.programs.forked import Forked

SERVES = True
"""Ctrl-C is the normal end of this command."""

# The options of a rehearsal that belongs to no event.
_OWN = tuple(
    "images ground_truth blacklist classes track seconds contest console meter load "
    "update_interval shuffle data tls".split()
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add(
        "--config",
        type=Path,
        metavar="FILE",
        help="an event's contest.toml, whose teams rehearse (default: "
        f"{VARIABLE}, without --images)",
    )
    add("--images", type=Path, metavar="DIR", help="folder of the images")
    add(
        "--ground-truth",
        "--labels",
        dest="ground_truth",
        type=Path,
        metavar="PATH",
        help="COCO instances JSON, a folder of ILSVRC or VOC XML or of YOLO labels, or CSV",
    )
    add("--blacklist", type=Path, metavar="PATH", help="CSV image_id,class_id to leave out")
    add("--classes", type=int, metavar="N", help="the class list is 1 to N (default: the source's)")
    add(
        "--track", choices=("network", "camera"), default="network", help="rules (default: network)"
    )
    add(
        "--seconds",
        type=whole_seconds,
        default=600,
        metavar="DURATION",
        help="length of a session (default: 10m)",
    )
    _add_meter(add)
    _add_servers(add)
    add(
        "--shuffle", action="store_true", help="another image order in each session, as in an event"
    )
    add(
        "--data",
        type=Path,
        metavar="DIR",
        help="folder that keeps everything (default: practice-data, or a folder beside it when that"
        " one keeps sessions with other images, ground truth or track)",
    )
    parser.set_defaults(defaults={name: parser.get_default(name) for name in _OWN})


def _add_servers(add: Callable[..., object]) -> None:
    add(
        "--contest", default="127.0.0.1:8000", metavar="HOST:PORT", help="where contestants connect"
    )
    add(
        "--console", default="127.0.0.1:8001", metavar="HOST:PORT", help="where the console listens"
    )
    add(
        "--tls",
        action="store_true",
        help="speak TLS, with a certificate that is made below --data; clients take --ca-file",
    )


def _add_meter(add: Callable[..., object]) -> None:
    add(
        "--meter",
        default="emulated",
        metavar="emulated|none|RESOURCE",
        help="an emulated WT310, no meter, the VISA resource of a real one, or another kind, as"
        " shelly:192.0.2.7 ('python -m power list' names all; not official)",
    )
    add(
        "--load",
        default="5.0",
        metavar="WATTS|STEPS|CSV",
        help="load of the emulated meter: watts, steps 'second:watts,…', or a CSV file",
    )
    add(
        "--update-interval",
        type=some_seconds,
        default=1.0,
        metavar="DURATION",
        help="update interval of the meter, 0.1 s to 5 s (default: 1)",
    )


def run(args: argparse.Namespace) -> int:
    """Host the rehearsal until interrupted."""
    from referee.programs.following import follow_sessions, tell_ca, tell_display, tell_password
    from referee.programs.hosting import hosted
    from referee.service.setup.contest_truth import read_contest_truth

    if args.images is None and args.config is None:
        args.config = environment_config()
    with _configuration(args) as (config, keep, forked), hosted(config, forked=forked) as host:
        keep()
        supervisor = host.supervisor
        say(
            f"ready: contestants {supervisor.contest_url}  console {supervisor.console_url}  "
            f"{counts_text(host.images)}  data {config.storage.folder}"
        )
        if args.config is None:  # In an event's rehearsal teams have passwords of their own.
            tell_password()
        tell_ca(config.server.contest_tls)
        contest = open_contest(config)
        truth = read_contest_truth(contest)
        tell_display(contest.track, supervisor.console_url)
        try:
            report = partial(_report, contest, truth)
            follow_sessions(host.database, contest.track, report, contest.clock)
        finally:
            contest.database.close()
    return 0


@contextmanager
def _configuration(
    args: argparse.Namespace,
) -> Iterator[tuple[Config, Callable[[], None], list[Forked]]]:
    """Hold the folder of the rehearsal, and return its configuration and its processes.

    A block that fails before it calls the function leaves the folder as it was.
    """
    from referee.programs.forked import forked_for
    from referee.programs.hosting import claimed, event_rehearsal

    if args.config is not None:
        given = [name for name in _OWN if getattr(args, name) != args.defaults[name]]
        if given:
            raise InputError(
                "--config takes everything from the event: leave out "
                f"--{given[0].replace('_', '-')}, or change contest.toml."
            )
        rehearsal = event_rehearsal(load_config(args.config))
        with rehearsal as (config, keep), forked_for(config) as forked, ended_on_purpose(config):
            yield config, keep, forked
        return
    if args.images is None or args.ground_truth is None:
        raise InputError(
            f"Give --images and --ground-truth, or an event's --config, or set {VARIABLE}."
        )
    images = ImagesSection(
        folder=real_path(args.images),
        ground_truth=real_path(args.ground_truth),
        blacklist=None if args.blacklist is None else real_path(args.blacklist),
        classes=args.classes,
    )
    data = args.data or folder_for(PRACTICE_DATA, images, args.track)
    before = FolderBefore.of(data)
    with claimed(data), before.undone() as keep:
        config = _own_configuration(args, data, images)
        with forked_for(config) as forked:
            yield config, keep, forked


def _own_configuration(args: argparse.Namespace, folder: Path, images: ImagesSection) -> Config:
    from referee.service.setup.certificate import make_certificate

    tls = None
    if args.tls:
        from referee.service.setup.certificate import make_certificate

        data = real_path(folder)
        hosts = certificate_hosts([args.contest])
        tls = make_certificate(data, data / "contest.toml", hosts, datetime.now(UTC))
    return practice_config(
        data=folder,
        contest=ContestSection(
            name="Rehearsal",
            mode="practice",
            track=args.track,
            seconds=args.seconds,
            shuffle=args.shuffle,
        ),
        images=images,
        server=ServerSection(contest=args.contest, console=args.console, contest_tls=tls),
        meter=MeterSection(
            resource=args.meter,
            update_interval_s=args.update_interval,
            emulated_load=args.load,
            # The emulated load is at 120 V. The ranges of a real meter belong in contest.toml.
            voltage_range_v=150.0 if args.meter == "emulated" else None,
            current_range_a=range_for(args.load) if args.meter == "emulated" else None,
        ),
    )


def _report(contest: Contest, truth: GroundTruth, session_id: int) -> str:
    from referee.service.results.rehearsal import rehearsal_report
    from referee.service.results.rehearsal_text import rehearsal_text
    from referee.service.results.session_reports import kept_reports

    text = rehearsal_text(rehearsal_report(contest, truth, session_id))
    where = f"--data {shlex.quote(str(contest.config.storage.folder))}"
    said = [
        f"  {report.title.lower():<11} {report.headline}\n"
        for report in kept_reports(contest, session_id, truth)
    ]
    return f"{text}\n{''.join(said)}  pictures    referee explain {session_id} {where}"
