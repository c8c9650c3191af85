# SPDX-License-Identifier: Apache-2.0
"""What an event will miss: nothing is broken, but somebody has left it out.

Each is a WARN, because an event may do without it on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator

from referee.errors import RefereeError
from referee.service.preflight.finding import CheckResult, ok, warn
from referee.service.setup.config import Config, ContestSection
from referee.service.setup.contest import Contest
from referee.service.setup.real_path import real_path
from referee.service.teams.roster import Roster, read_roster

_DEFAULT_NAME = ContestSection().name
_AGAIN = "start the referee again"


def left_out_findings(contest: Contest) -> Iterator[CheckResult]:
    """Yield what an event has, or will miss: name, scoreboard, rehearsal images, running order."""
    config = contest.config
    if config.contest.mode == "practice":
        return
    yield _name(config.contest.name)
    yield _scoreboard(config)
    yield _rehearsal_images(config)
    try:
        roster = read_roster(contest)
    except RefereeError:
        return  # The check of the list of teams tells why.
    yield from _running_order(roster, config.option)


def rehearsal_fault(config: Config) -> str:
    """Return why an event's rehearsals have no images of their own, or ''."""
    section = config.practice
    if section.images is None or section.ground_truth is None:
        return "name other images for rehearsals: [practice] images and ground_truth."
    if real_path(section.images) == real_path(config.images.folder):
        return (
            "[practice] images must be other images than those of the event, which stay secret "
            "until a team's session."
        )
    return ""


def _name(name: str) -> CheckResult:
    item = ("configuration", "name of the event")
    if name.strip() and name.strip().casefold() != _DEFAULT_NAME.casefold():
        return ok(*item, name)
    said = f"is still '{_DEFAULT_NAME}'" if name.strip() else "is empty"
    remedy = (
        "Set [contest] name to what scoreboard, results and diplomas shall say, such as 'LPIRC "
        f"2027', and {_AGAIN}."
    )
    return warn(*item, f"the name {said}", remedy)


def _scoreboard(config: Config) -> CheckResult:
    item = ("network", "scoreboard")
    address = config.server.scoreboard
    if address is not None:
        return ok(*item, address)
    remedy = (
        f'Set [server] scoreboard = "0.0.0.0:8002" and {_AGAIN}, or acknowledge that there is no '
        "audience."
    )
    return warn(*item, "there is none, so the audience sees nothing", remedy)


def _rehearsal_images(config: Config) -> CheckResult:
    item = ("teams", "rehearsal images")
    fault, section = rehearsal_fault(config), config.practice
    if fault:
        text = "there are none of their own, so no team can rehearse on this laptop"
        return warn(*item, text, f"{fault[0].upper()}{fault[1:]}")
    for path, setting in ((section.images, "images"), (section.ground_truth, "ground_truth")):
        if path is not None and not path.exists():
            text = f"{path} is not there, so no team can rehearse on this laptop"
            return warn(*item, text, f"Put it there, or correct [practice] {setting}.")
    return ok(*item, str(section.images))


def _running_order(roster: Roster, option: str) -> Iterator[CheckResult]:
    """Yield nothing for fewer than two teams, which have no order."""
    item, count = ("teams", "running order"), len(roster.runners)
    if count < 2:
        return
    if roster.order is not None:
        how = "by hand" if roster.order.seed is None else f"drawn with '{roster.order.seed}'"
        yield ok(*item, f"{count} teams, {how}")
        return
    text = f"there is none: the {count} teams would run in the order of their registration"
    remedy = (
        "Draw it by lottery: page Teams, Lottery…, or run: referee order lottery --seed TEXT "
        f"{option}"
    )
    yield warn(*item, text, remedy)
