# SPDX-License-Identifier: Apache-2.0
"""The versions of the program and of its libraries, and whether its files have changed."""

from __future__ import annotations

import hashlib
import os
import platform
import re
from functools import cache
from importlib import metadata
from pathlib import Path

import referee
from referee.service.preflight.finding import Finding, ok, warn

_PACKAGE = "lpirc-referee"
_TOLD = ("gunicorn", "gevent", "flask", "numpy", "pillow")
# A requirement with a lower bound alone, as setup.cfg writes it: flask>=3.1, gunicorn[gevent]>=27.
_REQUIREMENT = re.compile(r"^([\w.-]+)(?:\[[\w,]+\])?\s*>=\s*([\d.]+)\s*(;.*)?$")


def program_stamp() -> str:
    """Return version and a digest of the names, sizes and times of the program's own files."""
    digest = hashlib.sha256()
    root = Path(referee.__file__).parent
    # A desk asks at its start and whenever the list is made: os.walk takes a fifth of rglob's time.
    paths = [f"{folder}/{name}" for folder, _, names in os.walk(root) for name in names]
    for path in sorted(path for path in paths if path.endswith(".py")):
        stat = os.stat(path)
        name = path.removeprefix(f"{root}/")
        digest.update(f"{name} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return f"{referee.__version__} {digest.hexdigest()[:16]}"


def versions_finding() -> Finding:
    """Tell the versions; libraries that are older than the program needs are a WARN."""
    old = outdated()
    if old:
        remedy = "Install the program anew in its environment: pip install ."
        return warn("machine", "versions", f"too old: {', '.join(old)}", remedy)
    return ok("machine", "versions", _versions())


@cache
def outdated() -> tuple[str, ...]:
    """Return the libraries that are older than the installed program asks for, or missing."""
    try:
        requirements = metadata.requires(_PACKAGE) or []
    except metadata.PackageNotFoundError:  # The program runs from its folder.
        return ()
    found = []
    for requirement in requirements:
        parsed = _REQUIREMENT.match(requirement)
        if parsed is None or parsed.group(3):  # An extra is needed by some only.
            continue
        name, least = parsed.group(1), parsed.group(2)
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            found.append(f"{name} is missing")
            continue
        if _numbers(version) < _numbers(least):
            found.append(f"{name} {version}, {least} is needed")
    return tuple(found)


@cache
def _versions() -> str:
    told = [f"referee {referee.__version__}", f"Python {platform.python_version()}"]
    for name in _TOLD:
        try:
            told.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    return ", ".join([*told, f"{platform.system()} {platform.release()}"])


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:4])
