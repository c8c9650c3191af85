# SPDX-License-Identifier: Apache-2.0
"""The commit from which the program was made, where its files or its checkout know it."""

from __future__ import annotations

import os
import re
import subprocess
from functools import cache
from pathlib import Path

import referee

# git replaces the file's text by the commit in every archive that it makes (`.gitattributes`), and
# a release is built from one. In a checkout the text stays as it is.
_NOTED = "commit.txt"
_DIGITS = 12
_LONGEST_S = 10.0


def version_text() -> str:
    """Return the version for people, with the commit in brackets if it is known."""
    known = commit()
    return referee.__version__ + ("" if known is None else f" (commit {known})")


@cache
def commit() -> str | None:
    """Return the commit's first digits, with ", changed" for a checkout of changed files.

    Returns None for what was installed from a folder without git's help.
    """
    folder = Path(referee.__file__).parent
    try:
        noted = (folder / _NOTED).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        noted = ""
    if re.fullmatch("[0-9a-f]{40,64}", noted):
        return noted[:_DIGITS]
    return _of_checkout(folder.parent)


def _of_checkout(root: Path) -> str | None:
    if not (root / ".git").exists():  # A folder within somebody else's repository is no checkout.
        return None
    asked = ("--always", f"--abbrev={_DIGITS}", "--exclude=*", "--dirty=, changed")
    # Another repository may be named around us, as in a hook.
    around = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", "-C", str(root), "describe", *asked],
            capture_output=True,
            check=True,
            text=True,
            env=around,
            timeout=_LONGEST_S,
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    return done.stdout.strip() or None
