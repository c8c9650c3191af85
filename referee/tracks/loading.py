# SPDX-License-Identifier: Apache-2.0
"""Find the track that a configuration names."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

from referee import tracks
from referee.errors import ConfigError
from referee.tracks.track import Track


def load_track(name: str) -> Track[Any]:
    """Return the `TRACK` of the module that `name` names.

    A name without a dot names a module of `referee.tracks`. A dotted name names any module that
    Python can import. Raises `ConfigError` if there is no such module or no `TRACK` in it.
    """
    place = f"[contest] track = '{name}'"
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


def known_tracks() -> list[str]:
    """Return the names of the tracks that come with the referee: its modules with a `TRACK`."""
    return sorted(m.name for m in pkgutil.iter_modules(tracks.__path__) if _has_track(m.name))


def _has_track(name: str) -> bool:
    """Tell whether a module of `referee.tracks` is a track rather than a part of one."""
    try:
        module = importlib.import_module(f"{tracks.__name__}.{name}")
    except ImportError:
        return False
    return isinstance(getattr(module, "TRACK", None), Track)
