# SPDX-License-Identifier: Apache-2.0
"""The folder of a drill: a copy of the event's configuration, with generated pictures and teams."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from referee.core.actors import Actor
from referee.demo.imperfect_answers import write_answers
from referee.demo.scenes import generate
from referee.errors import InputError
from referee.extras.drill.play.meters import free_port
from referee.programs.progress import progress_bar
from referee.service.board.addresses import certificate_hosts
from referee.service.setup.certificate import make_certificate
from referee.service.setup.config import (
    Config,
    ImagesSection,
    PracticeSection,
    StorageSection,
)
from referee.service.setup.config_file import dump_config, load_config
from referee.service.setup.contest import Contest
from referee.service.setup.opened import opened_contest
from referee.service.setup.preparation import prepare_contest
from referee.service.setup.private_files import make_folder
from referee.service.setup.secrets_file import load_secrets
from referee.service.teams.order import draw_order
from referee.service.teams.registration import add_team
from referee.service.teams.registration_changes import new_passwords
from referee.store.database import Database
from referee.store.operators import (
    OperatorRecord,
    insert_operator_change,
    present_operators,
)
from referee.store.teams import Registration

DRILL = Actor("the drill", "drill")
"""By whom the copy of the event was set up, on the record of the copy."""

_TEAMS = tuple(
    "Alder Birch Cedar Dogwood Elm Fir Ginkgo Hazel Ivy Juniper Katsura Larch Maple "
    "Nutmeg Oak Pine Quince Rowan Spruce Teak".split()
)
TEAMS_MOST = len(_TEAMS)
"""The most teams of a drill."""


@dataclass(frozen=True)
class DrillPictures:
    """The generated pictures of a drill, and imperfect answers to them."""

    images: Path
    ground_truth: Path
    answers: Path


def new_folder(parent: Path) -> Path:
    """Make the folder of the next drill, named by its number."""
    try:
        make_folder(parent)  # A drill's own folder is private; the one around it may be anybody's.
        numbers = [int(path.name) for path in parent.iterdir() if path.name.isdecimal()]
        folder = parent / str(max(numbers, default=0) + 1)
        folder.mkdir(mode=0o700)
        load_secrets(folder)  # They mark it as a referee's, before pictures lie in it.
    except InputError as error:
        raise InputError(f"{error} Give another --out.") from None
    except OSError as error:
        raise InputError(
            f"{parent}: a drill cannot be kept there ({error.strerror}). Give another --out."
        ) from error
    return folder


def drill_pictures(parent: Path, folder: Path, count: int) -> DrillPictures:
    """Draw pictures once for all drills, and link them into the folder of this one.

    A drill takes files away, so it has names of its own for them.
    """
    kept = parent / f"pictures-{count}"
    truth, answers = kept / "ground_truth.json", kept / "answers.json"
    if not answers.exists():
        with progress_bar("pictures") as progress:
            scenes = generate(kept, count=count, progress=progress)
        unfinished = kept / "answers.unfinished"
        write_answers(scenes.ground_truth, unfinished)
        unfinished.replace(answers)
    images = folder / "images"
    shutil.copytree(kept / "images", images, copy_function=_link)
    return DrillPictures(images, truth, answers)


def drill_config(
    event: Config, folder: Path, pictures: DrillPictures, seconds: int, resources: Sequence[str]
) -> Config:
    """Write the configuration of a drill into its folder; return it as read from there.

    It is the event's own, with other images, shorter sessions, and a resource for each lane's
    meter. Free ports take the place of port 0, because a referee that is started again must be
    where it was.
    """
    lanes = [
        replace(lane, contest=_address(lane.contest), meter=replace(lane.meter, resource=resource))
        for lane, resource in zip(event.lanes, resources, strict=True)
    ]
    audience = event.server.scoreboard
    tls = event.server.contest_tls
    if tls is not None:
        # The clients of the drill's teams run here, and the event's certificate need not name that.
        hosts = certificate_hosts([lane.contest for lane in lanes])
        tls = make_certificate(folder, folder / "contest.toml", hosts, datetime.now(UTC))
    config = replace(
        event,
        path=folder / "contest.toml",
        contest=replace(
            event.contest, name=f"DRILL of {event.contest.name}", mode="event", seconds=seconds
        ),
        images=ImagesSection(pictures.images, pictures.ground_truth),
        server=replace(
            event.server,
            contest=lanes[0].contest,
            console=_address(event.server.console),
            scoreboard=None if audience is None else _address(audience),
            contest_tls=tls,
        ),
        meter=lanes[0].meter,
        storage=StorageSection(Path()),
        extras={},
        practice=PracticeSection(),
        declared_lanes=tuple(lanes) if event.declared_lanes else (),
    )
    config.path.write_text(dump_config(config), encoding="utf-8")
    return load_config(config.path)


Teams = Mapping[str, str]
"""The passwords of the generated teams by name."""


def set_up(config: Config, operators: Sequence[OperatorRecord], teams: int, seed: int) -> Teams:
    """Prepare the copy: images, operators with their passwords, teams with a running order.

    Returns the teams' passwords by name.
    """
    database, _ = prepare_contest(config)
    database.close()
    with opened_contest(config) as contest:
        _add_operators(contest, operators)
        for name in _TEAMS[:teams]:
            add_team(contest, f"Team {name}", Registration("drill"), DRILL)
        passwords = new_passwords(contest, [], DRILL)
        draw_order(contest, f"drill {seed}", "", DRILL)
    return passwords


def operators_of_event(event: Config, folder: Path) -> list[OperatorRecord]:
    """Return who may use the event's console.

    They are read from a copy in the drill's folder, so nothing of the event is written to.
    """
    if not event.database.exists():
        return []
    copy = folder / "event"
    copy.mkdir(mode=0o700)
    for path in event.database.parent.glob(f"{event.database.name}*"):
        if not path.name.endswith("-shm"):
            shutil.copy(path, copy / path.name)
    try:
        with closing(Database(copy / event.database.name)) as database:
            database.migrate()
            return present_operators(database.connection)
    finally:
        shutil.rmtree(copy)


def _add_operators(contest: Contest, operators: Sequence[OperatorRecord]) -> None:
    with contest.database.write() as connection:
        for operator in operators:
            insert_operator_change(
                connection,
                "added",
                operator.name,
                operator.role,
                operator.password_hash,
                actor=DRILL,
                utc=contest.clock.now().utc.isoformat(),
            )


def _link(source: str, target: str) -> None:
    """Give a file a second name, or copy it on a disk whose files have one name each."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _address(address: str) -> str:
    host, _, port = address.rpartition(":")
    return f"{host}:{free_port()}" if port == "0" else address
