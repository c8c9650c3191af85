# SPDX-License-Identifier: Apache-2.0
"""The files that make a contest's ground truth: where they lie, and which of them are in force."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from referee.errors import InputError
from referee.formats.hashed_reads import HashedReads
from referee.service.setup.config import Config
from referee.service.setup.contest import Contest
from referee.service.setup.input_rule import (
    Digest,
    Resolved,
    fault_text,
    resolved,
    way_out,
)
from referee.store.images import InputFile, load_inputs
from referee.store.inputs_in_force import InForce, inputs_in_force


def input_paths(config: Config) -> dict[str, Path]:
    """Return the files of a configuration that make its ground truth, by role."""
    paths: dict[str, Path | None] = {
        "ground_truth": config.images.ground_truth,
        "sizes": config.images.sizes,
        "blacklist": config.images.blacklist,
    }
    return {name: path for name, path in paths.items() if path is not None}


def input_files(config: Config, reads: HashedReads) -> dict[str, InputFile]:
    """Return the files of a configuration that make its ground truth, by role, with their hash."""
    return {
        name: InputFile(str(path), reads.sha256_of(path))
        for name, path in input_paths(config).items()
    }


def config_in_force(
    contest: Contest,
    reads: HashedReads | None = None,
    instead: Mapping[str, Path | None] = MappingProxyType({}),
) -> Config:
    """Return the configuration with the files that scores rest on now.

    They are the contest's own ones, or those that an applied proposal put in force. `instead` has
    other files for some roles, and None for a role that shall have none. `reads` keeps what was
    read. Raises `InputError` if one of the others has changed or is gone.
    """
    connection = contest.database.connection
    look = contest.looked_at  # A look has stored nothing.
    prepared, in_force = (
        look.inputs if look else load_inputs(connection),
        inputs_in_force(connection),
    )
    return config_with(contest.config, prepared, in_force, reads or HashedReads(), instead)


def config_with(
    config: Config,
    prepared: Mapping[str, InputFile],
    in_force: InForce | None,
    reads: HashedReads,
    instead: Mapping[str, Path | None] = MappingProxyType({}),
) -> Config:
    """Return a configuration with the files in force, as `config_in_force` does."""
    found = resolved_files(config, prepared, in_force, reads)
    faults = tuple(fault for fault in found.faults if fault.name not in instead)
    if faults:
        raise InputError(f"{' '.join(map(fault_text, faults))} {way_out(faults)}")
    paths: dict[str, Path | None] = {**found.paths, **instead}
    images = replace(
        config.images,
        ground_truth=paths.get("ground_truth") or config.images.ground_truth,
        sizes=paths.get("sizes"),
        blacklist=paths.get("blacklist"),
    )
    return replace(config, images=images)


def digests_of(reads: HashedReads) -> Digest:
    """Return a digest of files and folders through `reads`; what is neither counts as absent."""

    def digest(path: Path) -> str | None:
        try:
            # Another kind of file, such as a pipe, may never end, and gives its bytes only once.
            there = reads.has(path) or path.is_file() or path.is_dir()
            return reads.sha256_of(path) if there else None
        except (InputError, OSError):
            return None

    return digest


def resolved_files(
    config: Config,
    prepared: Mapping[str, InputFile],
    in_force: InForce | None,
    reads: HashedReads,
) -> Resolved:
    """Return where a configuration's files in force lie, and which are not right."""
    kept: dict[str, Path] = {}
    if in_force is not None and in_force.blacklist is not None:
        kept["blacklist"] = config.database / "blacklist.csv"
        reads.keep(kept["blacklist"], in_force.blacklist)
    inputs = None if in_force is None else in_force.inputs
    return resolved(input_paths(config), prepared, inputs, digests_of(reads), kept)
