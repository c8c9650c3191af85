# SPDX-License-Identifier: Apache-2.0
"""Which files a contest is scored with, and what is wrong with those that lie there: pure rules.

A contest's own files are those that it was prepared from. An applied proposal may have put others
in force. Names do not count, bytes do: the configured file may be the contest's own one or the one
in force, so a corrected file may take the place of the old one once it is in force.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from referee.store.images import InputFile

INPUT_WORDS = {
    "ground_truth": "ground truth",
    "sizes": "list of image sizes",
    "blacklist": "blacklist",
}
"""What messages call the files of each role."""

Digest = Callable[[Path], str | None]
"""Returns the SHA-256 of a file or folder, in hex; None if it is not there."""


@dataclass(frozen=True)
class InputFault:
    """A file that is not the one that scores rest on; without a `path` contest.toml names none.

    `absent`: it is not there, or cannot be read. `found` is the SHA-256 of what lies there.
    `added`: scores rest on no file of this role.
    """

    name: str
    path: Path | None
    absent: bool = False
    found: str | None = None
    added: bool = False


@dataclass(frozen=True)
class Resolved:
    """Where the files lie that scores rest on, by role, and every file that is not right."""

    paths: Mapping[str, Path]
    faults: tuple[InputFault, ...]


def resolved(
    configured: Mapping[str, Path],
    prepared: Mapping[str, InputFile],
    in_force: Mapping[str, InputFile] | None,
    digest: Digest,
    kept: Mapping[str, Path] = MappingProxyType({}),
) -> Resolved:
    """Find the files that hold, and those that are configured and are neither old nor new.

    `in_force` is None while the contest's own files hold. One in force is looked for where the
    configuration names its role, then where the proposal found it, and last where `kept` has it.
    """
    wanted = prepared if in_force is None else in_force
    faults = {
        name: fault
        for name, path in configured.items()
        if (fault := _strange(name, path, (prepared.get(name), wanted.get(name)), digest))
        is not None
    }
    paths: dict[str, Path] = {}
    for name, file in wanted.items():
        places = [configured[name]] if name in configured else []
        places += [] if in_force is None else [Path(file.path)]
        places += [kept[name]] if name in kept else []
        found = [path for path in places if digest(path) == file.sha256]
        if found:
            paths[name] = found[0]
        elif places:
            last = digest(places[-1])
            faults.setdefault(name, InputFault(name, places[-1], last is None, last))
        else:
            faults.setdefault(name, InputFault(name, None))
    return Resolved(paths, tuple(faults[name] for name in sorted(faults)))


def _strange(
    name: str, path: Path, allowed: tuple[InputFile | None, ...], digest: Digest
) -> InputFault | None:
    found = digest(path)
    known = [file.sha256 for file in allowed if file is not None]
    return None if found in known else InputFault(name, path, found is None, found, not known)


def fault_text(fault: InputFault) -> str:
    """Return in one sentence what is wrong with a file."""
    what = INPUT_WORDS[fault.name]
    if fault.added:
        return f"{fault.path}: the stored sessions were scored without a {what}."
    if fault.path is None:
        return f"contest.toml no longer names the {what} that the contest was prepared with."
    found = f"the {what} is not there, or cannot be read" if fault.absent else f"another {what}"
    return f"{fault.path}: has changed since the contest was prepared: {found}."


def way_out(faults: tuple[InputFault, ...]) -> str:
    """Return the whole way from changed files back to scores that all rest on the same ones."""
    options = " ".join(
        f"--{fault.name.replace('_', '-')} {_new_name(fault)}"
        for fault in faults
        if fault.name != "sizes"
    )
    first = [
        "Put the old file back." if any(not one.added for one in faults) else "",
        "Take the new line out of contest.toml." if any(one.added for one in faults) else "",
    ]
    return (
        f"{' '.join(filter(None, first))} A correction gets another name beside it: "
        f"'referee proposal make {options or '--ground-truth new.json'} --reason ...' shows what "
        "it would change; 'referee proposal apply' makes it count, and it holds for the sessions "
        "that come."
    )


def _new_name(fault: InputFault) -> str:
    suffix = "" if fault.path is None else fault.path.suffix
    return f"new{suffix}"
