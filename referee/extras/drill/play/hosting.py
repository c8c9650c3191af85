# SPDX-License-Identifier: Apache-2.0
"""Set up a drill and take it down: folder, pictures, meters, referee and teams."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from referee.errors import InputError
from referee.extras.drill.play.contestants import SimulatedTeams
from referee.extras.drill.play.folder import (
    drill_config,
    drill_pictures,
    new_folder,
    operators_of_event,
    set_up,
)
from referee.extras.drill.play.host import DrillHost
from referee.extras.drill.play.meters import DrillMeter, drill_meter
from referee.extras.drill.play.scene import DrillScene, Images
from referee.programs.hosting import claimed
from referee.service.setup.config import Config
from referee.service.setup.contest import open_contest
from referee.service.setup.folder_lock import is_hosted
from referee.service.setup.private_files import private_from_the_start


@dataclass(frozen=True)
class Wanted:
    """What a drill is asked for."""

    parent: Path
    seconds: int
    sessions: int
    images: int
    seed: int


@dataclass(frozen=True)
class Prepared:
    """A drill that is ready to begin: its scene, its folder, and who may log in."""

    scene: DrillScene
    folder: Path
    operators: Sequence[str]


def require_event(event: Config) -> None:
    """Raise `InputError` for a configuration that cannot be drilled now."""
    if event.contest.mode == "practice":
        raise InputError(f"{event.path}: is no event. Give the contest.toml of an event.")
    if is_hosted(event.storage.folder):
        raise InputError(
            f"{event.path}: its servers run. A drill needs their ports, and would disturb a "
            "session: stop them first, or drill on another laptop."
        )


@contextmanager
def prepared(event: Config, wanted: Wanted, say: Callable[[str], None]) -> Iterator[Prepared]:
    """Set up a drill of an event; at the end of the block stop all that it started."""
    with private_from_the_start(), ExitStack() as stack:
        folder = new_folder(wanted.parent)
        pictures = drill_pictures(wanted.parent, folder, wanted.images)
        operators = operators_of_event(event, folder)
        meters: dict[int, DrillMeter] = {}
        for number, lane in enumerate(event.lanes, 1):
            meters[number], _ = stack.enter_context(drill_meter(lane, number, folder / "logs"))
        resources = [meter.resource for meter in meters.values()]
        config = drill_config(event, folder, pictures, wanted.seconds, resources)
        with claimed(folder):
            passwords = set_up(config, operators, wanted.sessions + len(meters), wanted.seed)
        contest = open_contest(config, read_only=True)
        stack.callback(contest.database.close)
        host = DrillHost(config)
        teams = SimulatedTeams(
            contest,
            pictures,
            passwords,
            {number: host.contest(number) for number in meters},
            folder / "teams",
            wanted.seed,
            say,
        )
        images = Images(pictures.images, folder / "taken")
        scene = DrillScene(contest, host, meters, teams, images)
        stack.callback(scene.close)
        host.start()
        yield Prepared(scene, folder, [one.name for one in operators])
