# SPDX-License-Identifier: Apache-2.0
"""The versions of the program and of its libraries, and whether its files have changed."""

from __future__ import annotations

import hashlib
import os
import platform
from functools import cache
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

import referee
from referee.service.preflight.finding import CheckResult, ok, warn
from referee.service.setup.commit import version_text

_PACKAGE = "lpirc-referee"
_EXTRA = "event"
_TOLD = ("gunicorn", "gevent", "flask", "numpy", "pillow")


def program_stamp() -> str:
    """Return version and a digest of the names, sizes and times of the program's own files."""
    digest = hashlib.sha256()
    root = Path(referee.__file__).parent
    # A desk asks at its start and whenever the list is made: os.walk takes a fifth of rglob's time.
    paths = []
    for folder, within, names in os.walk(root):
        if "__pycache__" in within:
            within.remove("__pycache__")  # As many files again, and none of the program's own.
        paths += [f"{folder}/{name}" for name in names if name.endswith(".py")]
    for path in sorted(paths):
        stat = os.stat(path)
        name = path.removeprefix(f"{root}/")
        digest.update(f"{name} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return f"{referee.__version__} {digest.hexdigest()[:16]}"


def versions_finding() -> CheckResult:
    """Tell the versions; libraries that are older than the program needs are a WARN."""
    old = outdated()
    if old:
        remedy = "Install the program again in its environment, with the extra 'event'."
        return warn("machine", "versions", f"too old: {', '.join(old)}", remedy)
    return ok("machine", "versions", _versions())


@cache
def outdated() -> tuple[str, ...]:
    """Return the libraries that are older than the installed program asks for, or missing.

    Of an event's extra a library may be missing: whatever needs it says so by itself.
    """
    try:
        requirements = metadata.requires(_PACKAGE) or []
    except metadata.PackageNotFoundError:  # The program runs from its folder.
        return ()
    texts = []
    for requirement in map(Requirement, requirements):
        always, of_event = (_counts(requirement, extra) for extra in ("", _EXTRA))
        if not of_event:
            continue  # Another extra is needed by some only.
        try:
            version = metadata.version(requirement.name)
        except metadata.PackageNotFoundError:
            if always:
                texts.append(f"{requirement.name} is missing")
            continue
        if not requirement.specifier.contains(version, prereleases=True):
            least = str(requirement.specifier).removeprefix(">=")
            texts.append(f"{requirement.name} {version}, {least} is needed")
    return tuple(texts)


def _counts(requirement: Requirement, extra: str) -> bool:
    """Tell whether an install with an extra, '' for none, needs a requirement."""
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


@cache
def _versions() -> str:
    versions = [f"referee {version_text()}", f"Python {platform.python_version()}"]
    for name in _TOLD:
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    return ", ".join([*versions, f"{platform.system()} {platform.release()}"])
