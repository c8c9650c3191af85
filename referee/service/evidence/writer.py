# SPDX-License-Identifier: Apache-2.0
"""Who wrote a bundle: the referee's version, and the packages beside it that the session used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass

from power.plugins import Plugin
from power.resource import parse_resource
from referee import __version__
from referee.plugins import (
    ANSWER_FORMATS,
    EXTRAS,
    METERS,
    TRACKS,
    WORDS,
    is_own,
    others,
    own,
)
from referee.service.evidence.bundle_file import NotABundle, json_of
from referee.service.setup.contest import Contest
from referee.service.setup.extra import installed_extras, present_extras
from referee.store.answers import formats_of
from referee.store.sessions import SessionRecord

_MEMBER = "session.json"
_KEY = "plugins"
_GUEST, _FORMAT = WORDS[EXTRAS], WORDS[ANSWER_FORMATS]


@dataclass(frozen=True)
class UsedPlugin:
    """What a session used that is not the referee's own, and which package has brought it.

    `kind` is the word for it, such as `track`. Package and version are those installed where the
    bundle was written, and None where the package was gone by then.
    """

    kind: str
    name: str
    package: str | None
    version: str | None


@dataclass(frozen=True)
class BundleWriter:
    """The version of the referee that wrote a bundle, and what the session used beside it."""

    version: str
    plugins: tuple[UsedPlugin, ...] = ()

    def told(self) -> dict[str, object]:
        """Return the fields of `session.json`; a session that used nothing tells nothing."""
        used = {_KEY: [asdict(one) for one in self.plugins]} if self.plugins else {}
        return {"referee_version": self.version, **used}

    @property
    def guests(self) -> list[str]:
        """Return the names of the guests, which are those of their sections."""
        return [one.name for one in self.plugins if one.kind == _GUEST]

    @property
    def formats(self) -> list[str]:
        """Return the names of the answer formats."""
        return [one.name for one in self.plugins if one.kind == _FORMAT]


def present_writer(contest: Contest, session: SessionRecord) -> BundleWriter:
    """Return who writes a bundle of a session now."""
    return BundleWriter(__version__, tuple(_used(contest, session)))


def writer_told(members: Mapping[str, bytes]) -> BundleWriter:
    """Return who wrote a bundle, as its members tell. Raises `NotABundle` if they tell no such."""
    session = json_of(_MEMBER, members[_MEMBER])
    try:
        plugins = tuple(UsedPlugin(**one) for one in session.get(_KEY, ()))
        named = [(one.kind, one.name) for one in plugins]
        if not all(type(text) is str for pair in named for text in pair):
            raise TypeError("a kind or a name is no text")
        return BundleWriter(session["referee_version"], plugins)
    except (AttributeError, KeyError, TypeError) as error:
        raise NotABundle(_MEMBER, f"It does not tell who wrote it: {error!r}.") from None


def _used(contest: Contest, session: SessionRecord) -> Iterator[UsedPlugin]:
    brought = installed_extras().plugins
    for extra in present_extras(contest.config):
        if not is_own(brought[extra.name]):
            yield _told_of(brought[extra.name])
    meter = parse_resource(contest.config.lanes[session.lane - 1].meter.resource)
    names = [
        (TRACKS, [contest.config.contest.track]),
        (METERS, [] if meter is None else [meter.kind]),
        (ANSWER_FORMATS, formats_of(contest.database.connection, session.session_id)),
    ]
    for group, wanted in names:
        for name in wanted:
            if name not in own(group) and name != "form" and "." not in name:
                yield _named(group, name)


def _named(group: str, name: str) -> UsedPlugin:
    """Return a plugin by its name, as far as it is still there."""
    found = [plugin for plugin in others(group) if plugin.name == name]
    return _told_of(found[0]) if len(found) == 1 else UsedPlugin(WORDS[group], name, None, None)


def _told_of(plugin: Plugin) -> UsedPlugin:
    return UsedPlugin(WORDS[plugin.group], plugin.name, plugin.package, plugin.version)
