# SPDX-License-Identifier: Apache-2.0
"""The commit from which the program was made, where its files or its checkout know it."""

from __future__ import annotations

import os
import re
import subprocess
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import referee

# git replaces the file's text by the commit and its time in every archive that it makes
# (`.gitattributes`), and a release is built from one. In a checkout the text stays as it is.
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
    noted = _noted()[0]
    if re.fullmatch("[0-9a-f]{40,64}", noted):
        return noted[:_DIGITS]
    asked = ("--always", f"--abbrev={_DIGITS}", "--exclude=*", "--dirty=, changed")
    return _of_checkout("describe", *asked)


@cache
def commit_time() -> datetime | None:
    """Return when the commit was made, None where `commit` returns None."""
    for text in (_noted()[1], _of_checkout("log", "-1", "--format=%cI")):
        with suppress(TypeError, ValueError):
            return datetime.fromisoformat(text or "").astimezone(UTC)
    return None


def _noted() -> tuple[str, str]:
    """Return the commit and its time as the file has them; '' for what it does not have."""
    try:
        lines = (Path(referee.__file__).parent / _NOTED).read_text(encoding="ascii").split()
    except (OSError, ValueError):
        lines = []
    first, second = [*lines, "", ""][:2]
    return first, second


def _of_checkout(*asked: str) -> str | None:
    """Ask git about the checkout that the program runs from; None if it runs from none."""
    root = Path(referee.__file__).parent.parent
    if not (root / ".git").exists():  # A folder within somebody else's repository is no checkout.
        return None
    # Another repository may be named around us, as in a hook.
    around = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", "-C", str(root), *asked],
            capture_output=True,
            check=True,
            text=True,
            env=around,
            timeout=_LONGEST_S,
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    return done.stdout.strip() or None
