# SPDX-License-Identifier: Apache-2.0
"""The whole path of a file or folder that somebody named."""

from __future__ import annotations

import os
from pathlib import Path


def real_path(path: Path) -> Path:
    """Return the path without links; one whose links lead in a circle stays as it is.

    `Path.resolve` raises `RuntimeError` for such a path, which is no sentence for a user. Whoever
    opens it gets an `OSError` that says so.
    """
    return Path(os.path.realpath(path))
