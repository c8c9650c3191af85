# SPDX-License-Identifier: Apache-2.0
"""A prepared contest, as every program and command opens it.

Most commands ask for the database alone. So the rules of the track, and numpy with them, come when
somebody asks for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee.service.setup.clock import Clock, SystemClock
from referee.service.setup.config import Config
from referee.service.setup.secrets_file import Secrets, load_secrets
from referee.store.database import Database
from referee.store.images import ImageEntry, Manifest, load_manifest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from referee.tracks.track import Track


@dataclass(frozen=True)
class Contest:
    """A prepared contest: configuration, clock, database, keys, track, images and classes.

    `find_track` returns the track; the first use of `track` calls it. `images[k-1]` has image id k.
    `looked_at` is what a look found of images and ground truth, and nobody has stored.
    """

    config: Config
    clock: Clock
    database: Database
    secrets: Secrets
    find_track: Callable[[], Track[Any]]
    images: tuple[ImageEntry, ...]
    classes: Mapping[int, str]
    looked_at: Manifest | None = None

    @property
    def image_count(self) -> int:
        """Return the number of images N; contestants number them 1 to N."""
        return len(self.images)

    @cached_property
    def track(self) -> Track[Any]:
        """Return the rules of the competition.

        Raises `ConfigError` if there are none of that name. A server asks before it serves: the
        modules take 0.2 s to load.
        """
        return self.find_track()

    @cached_property
    def class_ids(self) -> NDArray[np.int64]:
        """Return the ids of the classes in ascending order."""
        import numpy as np

        return np.fromiter(self.classes, dtype=np.int64)


def open_contest(
    config: Config,
    clock: Clock | None = None,
    *,
    read_only: bool = False,
    copy: Path | None = None,
    keys: Path | None = None,
) -> Contest:
    """Open a contest after `prepare_contest` has prepared it; `read_only` refuses every write.

    `copy` is opened in place of the database: see `referee.store.readable`. `keys` is the folder of
    the keys, if it is not the contest's.
    """
    database = Database(config.database, read_only=read_only, copy=copy)
    manifest = load_manifest(database.connection)
    return Contest(
        config=config,
        clock=clock or SystemClock(),
        database=database,
        secrets=load_secrets(keys or config.storage.folder),
        find_track=partial(_find_track, config.contest.track),
        images=manifest.images,
        classes=manifest.classes,
    )


def _find_track(name: str) -> Track[Any]:
    from referee.tracks.loading import load_track

    return load_track(name)
