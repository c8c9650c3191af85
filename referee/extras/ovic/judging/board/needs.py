# SPDX-License-Identifier: Apache-2.0
"""What a board's Python needs beside the code that the referee sends: three libraries."""

from __future__ import annotations

import re
import sys
from importlib import metadata

OLDEST = {"ai-edge-litert": (2, 0, 2), "numpy": (2, 1), "pillow": (13, 0)}
"""The libraries that time a model, with the oldest versions, as `setup.cfg` has them."""


def versions() -> dict[str, str | None]:
    """Return the installed version of each library, or None."""
    return {name: _version(name) for name in OLDEST}


def what_lacks(found: dict[str, str | None]) -> str | None:
    """Return a sentence about libraries that are missing or too old; None if there are none."""
    wrong = {
        f"{name}>={'.'.join(map(str, oldest))}": found[name]
        for name, oldest in OLDEST.items()
        if _numbers(found[name] or "0") < oldest
    }
    if not wrong:
        return None
    listed = ", ".join(f"{need} (found: {version or 'none'})" for need, version in wrong.items())
    quoted = " ".join(f"'{need}'" for need in wrong)
    return f"its Python lacks {listed}. On the board: {sys.executable} -m pip install {quoted}"


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _numbers(version: str) -> tuple[int, ...]:
    """Return the first three numbers of a version; one that is missing is 0."""
    numbers = [int(number) for number in re.findall(r"\d+", version)]
    return tuple([*numbers, 0, 0][:3])
