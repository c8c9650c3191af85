# SPDX-License-Identifier: Apache-2.0
"""What a guest beside the contest brings to it; the contest finds its guests by entry points.

A guest is a package with an `Extra`, which an entry point of `lpirc_referee.extras` names. The
package has the guest's commands in `commands`, the SQL scripts that make its tables in
`migrations`, and the files of its pages in `static`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from power.plugins import Plugin, Unloadable
from referee.errors import ConfigError
from referee.plugins import EXTRAS, Usable, load, named, own, usable
from referee.service.setup.program import Program

if TYPE_CHECKING:
    from referee.core.ground_truth import GroundTruth
    from referee.service.setup.config import Config
    from referee.service.setup.contest import Contest
    from referee.store.database import Connection


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
class SessionLink:
    """A link on a team's page to `/sessions/NUMBER/part`."""

    text: str
    part: str


@dataclass(frozen=True)
class SessionReport:
    """What a guest says of one ended session.

    `lines` stand below their titles. `page` is a page of HTML that stands alone.
    """

    title: str
    headline: str
    lines: Mapping[str, Sequence[str]]
    page: str


@dataclass(frozen=True)
class Extra:
    """What a guest brings; it leaves out what it has no part in.

    `name` is that of its entry point. `commands` are its commands with their summaries, by the
    group of the help in which they stand; `commands.NAME` in its package has the command itself.
    `section` is the dataclass of its section `[name]` of `contest.toml`, and `takes_part` tells
    from it whether the guest takes part in a contest. The contest asks for what stands in the first
    half only where it does, and for the second half always.
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
    openapi: Callable[[], Mapping[str, object]] = dict
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
    session_report: Callable[[Contest, int, GroundTruth], SessionReport | None] = lambda *_: None
    """Returns what it says of an ended session with this ground truth, or None"""
    add_scoreboard_routes: Callable[..., None] = lambda app, sessions, view_of, run_blocking: None
    """Adds routes to the scoreboard: to a `Flask` with its `TeamSessions`, the view that the public
    has, and a `BlockingRunner`"""
    session_link: SessionLink | None = None
    """A link on a team's page once the results are final"""
    require_usable: Callable[[Config], object] = lambda config: None
    """Raises `InputError` before a contest starts whose configuration it cannot serve"""
    open_points: Callable[[Contest, Connection, Collection[str]], Iterable[str]] = lambda *_: ()
    """Returns what is open before results can be final, given the teams that take part"""
    kept_of: Callable[[Connection, str], str] = lambda connection, team: ""
    """Returns what keeps a team on record, as 'entry 3 of OVIC', or ''"""

    package: str = ""
    """The Python package that brings it; the referee fills it in"""

    @property
    def folder(self) -> Path | None:
        """Return the folder of its package, or None for a single module."""
        spec = find_spec(self.package)
        places = None if spec is None else spec.submodule_search_locations
        return Path(next(iter(places))) if places else None


@cache
def own_extras() -> Mapping[str, Extra]:
    """Return what the referee's own guests bring, by name; no other package is looked at."""
    return {name: _brought(plugin, load(plugin, Extra)) for name, plugin in own(EXTRAS).items()}


@cache
def installed_extras() -> Usable[Extra]:
    """Return what the guests bring that are installed here; this imports their packages."""
    found = usable(EXTRAS, Extra, _fault_of)
    extras = {
        name: _brought(found.plugins[name], extra) for name, extra in sorted(found.objects.items())
    }
    return replace(found, objects=extras)


def extra_named(name: str) -> Extra | None:
    """Return what the guest of a name brings, or None; no other package is imported.

    Raises `ConfigError` if the guest is there and cannot be used.
    """
    plugin = named(EXTRAS, name)
    if plugin is None:
        return None
    extra = _brought(plugin, load(plugin, Extra))
    fault = _fault_of(plugin, extra, own_extras())
    if fault is not None and name not in own_extras():
        raise ConfigError(str(Unloadable(plugin, fault)))
    return extra


def all_extras() -> tuple[Extra, ...]:
    """Return what each guest of this machine's contests brings, by name."""
    return tuple(installed_extras().objects.values())


def present_extras(config: Config) -> list[Extra]:
    """Return what those guests bring that take part in a contest."""
    return [extra for extra in all_extras() if extra.takes_part(config)]


def rooms_of(extras: Iterable[Extra]) -> dict[str, Path]:
    """Return the folders of guests by their names, for the scripts that make their tables."""
    return {extra.name: extra.folder for extra in extras if extra.folder is not None}


def _brought(plugin: Plugin, extra: Extra) -> Extra:
    """Return an extra that knows its package: the one that has the module of its entry point."""
    return replace(extra, package=plugin.module.rpartition(".")[0] or plugin.module)


def _fault_of(plugin: Plugin, extra: Extra, others: Mapping[str, Extra]) -> str | None:
    """Return why a guest cannot stand beside the others: what it adds must be its own."""
    from referee.service.setup.config import Config

    if extra.name != plugin.name:
        return f"its name is '{extra.name}', and must be that of its entry point"
    if extra.name in ("lane", *(field.name for field in fields(Config))):
        return f"[{extra.name}] is a section of the contest itself"
    for other in others.values():
        for words in (_commands, _programs, _routes, _refusals):
            both = words(extra) & words(other)
            if both:
                return f"'{min(both)}' is of the guest '{other.name}'"
    return None


def _commands(extra: Extra) -> set[str]:
    return {name for listed in extra.commands.values() for name in listed}


def _programs(extra: Extra) -> set[str]:
    return {program.name for program in extra.programs}


def _routes(extra: Extra) -> set[str]:
    return {*extra.console}


def _refusals(extra: Extra) -> set[str]:
    return {*extra.refusals}
