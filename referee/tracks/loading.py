# SPDX-License-Identifier: Apache-2.0
"""Find the track that a configuration names."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from referee import tracks
from referee.errors import ConfigError
from referee.formats.faults import quoted

if TYPE_CHECKING:
    from referee.tracks.track import Track

TRACK_OPTION = "--track"
"""The option by which a caller names a track that a stranger's bundle may then choose."""


TRACK_HELP = (
    "also trust the rules of this Python module, which is run; a bundle alone chooses none but the "
    "referee's own"
)
"""What the help of a command says of that option."""


def load_track(name: str, place: str = "[contest] track =") -> Track[Any]:
    """Return the `TRACK` of the module that `name` names; this runs the module.

    So the name must come from an operator or a caller, never from a bundle, a feed or a model.
    A name without a dot names a module of `referee.tracks`. A dotted name names any module that
    Python can import. Raises `ConfigError` if there is no such module or no `TRACK` in it; `place`
    tells where the name stands.
    """
    from referee.tracks.track import Track

    place = f"{place} '{name}'"
    module_name = name if "." in name else f"{tracks.__name__}.{name}"
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise ConfigError(f"{place}: {module_name} needs {error.name}: install it.") from error
        raise ConfigError(
            f"{place}: there is no module {module_name}. Known are {', '.join(known_tracks())}, "
            "and any dotted name of a module that Python can import."
        ) from error
    except (ImportError, TypeError, ValueError) as error:
        raise ConfigError(f"{place}: {module_name} cannot be imported ({error}).") from error
    track = getattr(module, "TRACK", None)
    if not isinstance(track, Track):
        raise ConfigError(
            f"{place}: {module_name} has no TRACK. Known are {', '.join(known_tracks())}."
        )
    return track


@lru_cache(maxsize=8)
def trusted_tracks(named: str | None = None) -> Mapping[str, Track[Any]]:
    """Return the tracks that a stranger's text may choose, by the names of their modules.

    They are those that come with the referee, and the one that the caller has named by `--track`.
    Raises `ConfigError` if there is none of that name.
    """
    tracks = {name: load_track(name) for name in known_tracks()}
    if named is not None:
        tracks[named] = load_track(named, TRACK_OPTION)
    return MappingProxyType(tracks)


def not_trusted(track: str, named: str | None) -> str:
    """Return why a bundle with another track is not read, and what its reader can do."""
    known = ", ".join([*known_tracks(), *([] if named is None else [named])])
    return (
        f"Its track {quoted(track)} has rules of its own. Trusted are {known}: a bundle chooses no "
        f"code. If you know the module of these rules and trust it, name it: {TRACK_OPTION} MODULE."
    )


def known_tracks() -> list[str]:
    """Return the names of the tracks that come with the referee: its modules with a `TRACK`."""
    return sorted(m.name for m in pkgutil.iter_modules(tracks.__path__) if _has_track(m.name))


def _has_track(name: str) -> bool:
    """Tell whether a module of `referee.tracks` is a track rather than a part of one."""
    from referee.tracks.track import Track

    try:
        module = importlib.import_module(f"{tracks.__name__}.{name}")
    except ImportError:
        return False
    return isinstance(getattr(module, "TRACK", None), Track)
