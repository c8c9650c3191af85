# SPDX-License-Identifier: Apache-2.0
"""Set up an event: write a commented configuration and the secrets into a new or an empty folder.

The images and the ground truth may lie in the folder already; nothing else may.

On a terminal the command asks for the images, the ground truth, the meter and the length, and shows
the meters that it finds. With an option, or without a terminal, it asks nothing. Then edit the
configuration, register the teams, check, and serve:

  referee init event
  referee team add 'Team Rocket' --config event/contest.toml
  referee check --config event/contest.toml
  referee serve --config event/contest.toml

Two lanes, each with its meter:

  referee init event --lanes 2 --meter TCPIP::192.168.1.3::INSTR --meter TCPIP::192.168.1.4::INSTR
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from referee.core.counts import counted
from referee.errors import ConfigError, InputError
from referee.programs.failed_start import FolderBefore
from referee.programs.meter_search import find_meters, identity_of
from referee.programs.setup_questions import (
    EMULATED,
    EventBasics,
    Terminal,
    ask_all,
    existing_folder,
    existing_path,
    length,
    resource,
)
from referee.service.board.addresses import contestants_urls
from referee.service.setup.config import (
    Config,
    ContestSection,
    ImagesSection,
    ServerSection,
    StorageSection,
)
from referee.service.setup.config_file import dump_config, load_config
from referee.service.setup.lane_config import LaneSection, MeterSection
from referee.service.setup.own_folder import Owner, owner_of, require_own
from referee.service.setup.private_files import make_folder, private_from_the_start
from referee.service.setup.real_path import real_path
from referee.service.setup.secrets_file import load_secrets

_NAMES = {
    2: ("left", "right"),
    3: ("left", "middle", "right"),
    4: ("first", "second", "third", "fourth"),
}
# The ports of the lanes lie ten apart, so console and scoreboard keep theirs between them.
_FIRST_PORT, _PORTS_APART = 8000, 10
_DEFAULTS = EventBasics()
# What an earlier event has beside its configuration.
_LEFT = ("signing.pub", "teams.csv", "contest_tls.pem", "contest_ca.pem")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("folder", type=Path, metavar="DIR", help="folder to make")
    add("--images", metavar="DIR", help="folder of the images (default: images, in the folder)")
    add(
        "--ground-truth",
        metavar="PATH",
        help="their ground truth (default: ground_truth.json, in the folder)",
    )
    add(
        "--meter",
        action="append",
        metavar="RESOURCE",
        help="the meter, one for each lane; may be repeated (default: emulated);"
        " 'python -m power list' finds some",
    )
    add(
        "--seconds",
        metavar="DURATION",
        help=f"length of a session (default: {_DEFAULTS.seconds})",
    )
    add(
        "--lanes",
        type=int,
        choices=(1, *_NAMES),
        help="how many teams run at once, each in a lane with its own meter and port (default: 1)",
    )


def run(args: argparse.Namespace) -> int:
    """Write the files; refuse to change an event that already exists."""
    from referee.service.setup.signing_key import PRIVATE, ensure_signing_key

    folder: Path = args.folder
    path = folder / "contest.toml"
    if path.exists():
        raise InputError(f"{path} already exists. Give another folder, or edit that file.")
    config = _config(path, _answers(args), args.lanes or 1)
    data = folder / config.storage.folder
    _require_usable(folder, data, config.images)
    before = FolderBefore.of(folder)
    with private_from_the_start():
        make_folder(folder)
        with before.undone() as keep:
            _write(path, dump_config(config))
            _require_readable(path)
            make_folder(data)
            load_secrets(data)
            public = ensure_signing_key(data, path)
            keep()
    print(f"Wrote {path}, {data / 'secrets.json'} and {data / PRIVATE}.")
    print(f"Give {public} to everybody: it proves who signed the evidence.")
    print(f"Next: edit {path}, and then run, for each team and for the event:")
    print(f"  referee team add 'Team Rocket' {config.option}")
    print(f"  referee check {config.option}")
    print(f"  referee serve {config.option}")
    return 0


def _answers(args: argparse.Namespace) -> EventBasics:
    """Return what the options say; without options, what people answer on a terminal."""
    options = (args.images, args.ground_truth, args.meter, args.seconds, args.lanes)
    if all(option is None for option in options) and sys.stdin.isatty() and sys.stdout.isatty():
        terminal = Terminal(input, print)
        addresses = contestants_urls(ServerSection().contest)
        try:
            return ask_all(terminal, addresses, find_meters, identity_of)
        except EOFError:  # Ctrl-D means what Ctrl-C does.
            raise KeyboardInterrupt from None
    lanes, meters = args.lanes or 1, tuple(map(resource, args.meter or ()))
    if meters and len(meters) != lanes:
        raise InputError(
            f"--meter is given for {len(meters)} of {counted(lanes, 'lane')}: give it once for"
            " each lane."
        )
    return EventBasics(
        existing_folder(args.images) if args.images else None,
        existing_path(args.ground_truth) if args.ground_truth else None,
        meters or lanes * (EMULATED,),
        length(args.seconds) if args.seconds else _DEFAULTS.seconds,
    )


def _config(path: Path, answers: EventBasics, lanes: int) -> Config:
    images = answers.images or Path("images")
    truth = answers.ground_truth or Path("ground_truth.json")
    shared = MeterSection(voltage_range_v=300.0, current_range_a=1.0)
    meters = [replace(shared, resource=meter) for meter in answers.meters]
    several = zip(_NAMES[lanes], meters, strict=True) if lanes > 1 else ()
    return Config(
        path=path,
        contest=ContestSection(seconds=answers.seconds),
        images=ImagesSection(_from(path.parent, images), _from(path.parent, truth)),
        server=ServerSection(),
        meter=meters[0] if lanes == 1 else shared,
        storage=StorageSection(),
        declared_lanes=tuple(
            LaneSection(name, f"0.0.0.0:{_FIRST_PORT + _PORTS_APART * place}", meter)
            for place, (name, meter) in enumerate(several)
        ),
    )


def _from(folder: Path, path: Path) -> Path:
    """Return a path as it stands in a configuration: from its folder, if it lies in there."""
    home = real_path(folder)
    return path.relative_to(home) if path.is_relative_to(home) else path


def _require_usable(folder: Path, data: Path, images: ImagesSection) -> None:
    """Raise `InputError` for a folder with more than what an event has there; nothing is changed.

    The images and the ground truth may lie there, and what is left of an earlier event.
    """
    material = [path for path in (images.folder, images.ground_truth) if not path.is_absolute()]
    require_own(data)
    left = _LEFT if owner_of(data) is Owner.REFEREE else ()
    require_own(folder, beside=[data.name, *left, *(path.parts[0] for path in material)])


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from None


def _require_readable(path: Path) -> None:
    """Raise `ConfigError` for what the answers make impossible, such as one meter in two lanes."""
    try:
        load_config(path)
    except ConfigError:
        path.unlink()
        raise
