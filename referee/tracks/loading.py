# SPDX-License-Identifier: Apache-2.0
"""Find the track that a configuration names."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from referee.errors import ConfigError
from referee.formats.faults import quoted
from referee.plugins import TRACKS, load, named, others, own

if TYPE_CHECKING:
    from referee.tracks.track import Track

TRACK_OPTION = "--track"
"""The option by which a caller names a track that a stranger's bundle may then choose."""


TRACK_HELP = (
    "also trust the rules of this Python module or installed track, which is run; a bundle alone "
    "chooses none but the referee's own"
)
"""What the help of a command says of that option."""


def load_track(name: str, place: str = "[contest] track =") -> Track[Any]:
    """Return the track of an entry point, or the `TRACK` of the module that `name` names.

    This runs the package or the module. So the name must come from an operator or a caller, never
    from a bundle, a feed or a model. A name without a dot is that of an entry point; a dotted name
    names any module that Python can import. Raises `ConfigError` if there is no such track; `place`
    tells where the name stands.
    """
    from referee.tracks.track import Track

    place = f"{place} '{name}'"
    if "." in name:
        return _track_in(name, place)
    plugin = named(TRACKS, name)
    if plugin is None:
        raise ConfigError(f"{place}: there is no such track. {_known()}")
    # mypy wants a class that can be called; this one is only compared with.
    track: Track[Any] = load(plugin, Track)  # type: ignore[type-abstract]
    if track.name != name:
        raise ConfigError(
            f"{place}: the track of {plugin.brought_by} calls itself '{track.name}'. Its entry "
            "point must have the same name."
        )
    return track


def _track_in(module_name: str, place: str) -> Track[Any]:
    from referee.tracks.track import Track

    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise ConfigError(f"{place}: {module_name} needs {error.name}: install it.") from error
        raise ConfigError(f"{place}: there is no module {module_name}. {_known()}") from error
    except (ImportError, TypeError, ValueError) as error:
        raise ConfigError(f"{place}: {module_name} cannot be imported ({error}).") from error
    track = getattr(module, "TRACK", None)
    if not isinstance(track, Track):
        raise ConfigError(f"{place}: {module_name} has no TRACK. {_known()}")
    return track


def _known() -> str:
    names = {*known_tracks(), *(plugin.name for plugin in others(TRACKS))}
    return f"Known are {', '.join(sorted(names))}, and any dotted name of a module with a TRACK."


@lru_cache(maxsize=8)
def trusted_tracks(chosen: str | None = None) -> Mapping[str, Track[Any]]:
    """Return the tracks that a stranger's text may choose, by the names of their modules.

    They are those that come with the referee, and the one that the caller has named by `--track`.
    A bundle loads no package that is installed beside the referee. Raises `ConfigError` if there is
    none of that name.
    """
    tracks = {name: load_track(name) for name in known_tracks()}
    if chosen is not None:
        tracks[chosen] = load_track(chosen, TRACK_OPTION)
    return MappingProxyType(tracks)


def not_trusted(track: str, chosen: str | None) -> str:
    """Return why a bundle with another track is not read, and what its reader can do."""
    known = ", ".join([*known_tracks(), *([] if chosen is None else [chosen])])
    return (
        f"Its track {quoted(track)} has rules of its own. Trusted are {known}: a bundle chooses no "
        "code. If you know the module of these rules, or have installed them, and trust them, name "
        f"it: {TRACK_OPTION} MODULE."
    )


def known_tracks() -> list[str]:
    """Return the names of the tracks that come with the referee; imports none of them."""
    return list(own(TRACKS))
