# SPDX-License-Identifier: Apache-2.0
"""The folder of the pages and scripts, in the source tree or in an installed package."""

from __future__ import annotations

from pathlib import Path


def static_folder() -> Path:
    """Return the folder of the static files.

    The wheel holds the tree's top-level `static/` as `referee/static/`.
    """
    package = Path(__file__).resolve().parents[2]
    installed = package / "static"
    return installed if installed.is_dir() else package.parent / "static"
