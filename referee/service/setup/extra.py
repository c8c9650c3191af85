# SPDX-License-Identifier: Apache-2.0
"""What a guest beside the contest brings to it; the contest finds its guests by name.

A guest is a folder of `referee/extras` with a module `extra`, whose `EXTRA` is an `Extra`. SQL
scripts in the guest's folder `migrations` make its tables.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from referee.service.setup.program import Program

if TYPE_CHECKING:
    from referee.service.setup.config import Config
    from referee.service.setup.contest import Contest
    from referee.store.database import Connection

GUESTS = "referee.extras"
"""The package that has a folder for each guest."""


@dataclass(frozen=True)
class LeaderboardColumn:
    """A column of a leaderboard: the head above it, and what its cells are."""

    head: str = ""
    kind: Literal["text", "number", "rank", "score"] = "text"


@dataclass(frozen=True)
class Leaderboard:
    """A table that a guest shows the audience: words and figures as they are read.

    `note` stands behind the title, in small letters. `cells` has a row of texts for each team, the
    best first; without a row `nothing` stands in its place.
    """

    title: str = ""
    note: str = ""
    columns: Sequence[LeaderboardColumn] = ()
    cells: Sequence[Sequence[str]] = ()
    nothing: str = ""


@dataclass(frozen=True)
class ConsoleBox:
    """A box that a guest has on the console: what goes on now, and a link to a page of its own."""

    title: str = ""
    text: str = ""
    link: str = ""
    link_text: str = ""


@dataclass(frozen=True)
class Extra:
    """What a guest brings; it leaves out what it has no part in.

    `commands` are its commands with their summaries, by the group of the help in which they stand;
    `commands.NAME` in its folder has the command itself. `section` is the dataclass of its section
    `[name]` of `contest.toml`, and `takes_part` tells from it whether the guest takes part in a
    contest. The contest asks for what stands in the first half only where it does, and for the
    second half always.
    """

    name: str
    commands: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    section: type | None = None
    takes_part: Callable[[Config], bool] = lambda config: False

    programs: Sequence[Program] = ()
    add_contest_routes: Callable[..., None] = lambda app, services, journal, runner_of: None
    """Adds routes for teams: to a `Flask` with `ContestServices`, a `Journal`, a maker of
    `BlockingRunner`s"""
    help: Callable[[Config, str], str] = lambda config, base: ""
    """Returns its part of `/help`; the second argument is the server's address"""
    openapi: Callable[[], Mapping[str, Any]] = dict
    """Returns its paths in `/openapi.json`"""
    box: Callable[[Connection], ConsoleBox] | None = None
    """Returns its box on the console, which shows it with each news"""
    leaderboards: Callable[[Contest, Connection], Iterable[Leaderboard]] = lambda *_: ()
    """Returns the leaderboards that the audience may see"""
    version: Callable[[Connection], object] = lambda connection: None
    """Returns what differs when its leaderboards do"""
    standings: Callable[[Contest, Connection], Any] = lambda *_: None
    """Returns its `GuestStandings` among the results, or None"""
    slow_check: tuple[str, str] | None = None
    check: Callable[[Config], Iterable[Any]] = lambda config: ()
    """Makes the slow check of that group and item before an event, and returns its findings"""

    refusals: Mapping[str, int] = field(default_factory=dict)
    """Its codes of refusals, with their statuses"""
    console: Mapping[str, Literal["page", "watch"]] = field(default_factory=dict)
    """Its routes on the console: pages for people, and what programs may watch, too"""
    add_console_routes: Callable[[Any, Contest], None] = lambda app, contest: None
    require_usable: Callable[[Config], object] = lambda config: None
    """Raises `InputError` before a contest starts whose configuration it cannot serve"""
    open_points: Callable[[Contest, Connection, Collection[str]], Iterable[str]] = lambda *_: ()
    """Returns what is open before results can be final, given the teams that take part"""
    kept_of: Callable[[Connection, str], str] = lambda connection, team: ""
    """Returns what keeps a team on record, as 'entry 3 of OVIC', or ''"""


@cache
def all_extras() -> tuple[Extra, ...]:
    """Return what each guest brings, by name."""
    package = importlib.import_module(GUESTS)
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    return tuple(importlib.import_module(f"{GUESTS}.{name}.extra").EXTRA for name in names)


def present_extras(config: Config) -> list[Extra]:
    """Return what those guests bring that take part in a contest."""
    return [extra for extra in all_extras() if extra.takes_part(config)]
