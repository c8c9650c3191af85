# SPDX-License-Identifier: Apache-2.0
"""The files that a session was scored with, as its facts name them."""

from __future__ import annotations

from referee.store.database import Connection
from referee.store.images import load_inputs
from referee.store.scores import ScoringRun


def inputs_of(connection: Connection, run: ScoringRun | None) -> dict[str, str]:
    """Return the SHA-256 of each file by its role.

    They are those of the contest. A score by other files names them itself.
    """
    own = None if run is None else run.detail.get("inputs")
    if own is None:
        return {name: file.sha256 for name, file in load_inputs(connection).items()}
    return {str(name): str(digest) for name, digest in own.items()}
