# SPDX-License-Identifier: Apache-2.0
"""Which files scores rest on, wherever they lie, and which are neither old nor new."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.service.setup.input_rule import fault_text, resolved, way_out
from referee.store.images import InputFile

OLD, NEW, LIST = Path("truth.json"), Path("new.json"), Path("black.csv")
OWN = {"ground_truth": InputFile("truth.json", "old")}
FORCE = {"ground_truth": InputFile("new.json", "new")}


def look(disk, in_force=None, configured=None, own=OWN):
    """Resolve with files that have these digests."""
    return resolved(configured or {"ground_truth": OLD}, own, in_force, disk.get)


@pytest.mark.parametrize(
    ("disk", "in_force", "path"),
    [
        ({OLD: "old"}, None, OLD),
        ({OLD: "old", NEW: "new"}, FORCE, NEW),
        ({OLD: "new"}, FORCE, OLD),
        ({OLD: "new", NEW: "new"}, FORCE, OLD),
    ],
)
def test_a_file_is_known_by_its_bytes(disk, in_force, path):
    """The corrected file may lie where the proposal found it, or where the old one was."""
    found = look(disk, in_force)
    assert ({"ground_truth": path}, ()) == (found.paths, found.faults)


@pytest.mark.parametrize(
    ("disk", "in_force", "faulty", "words"),
    [
        ({OLD: "other"}, None, OLD, "another ground truth"),
        ({}, None, OLD, "is not there"),
        ({OLD: "new"}, None, OLD, "another ground truth"),
        ({OLD: "other", NEW: "new"}, FORCE, OLD, "another ground truth"),
        ({OLD: "old"}, FORCE, NEW, "is not there"),
        ({OLD: "old", NEW: "other"}, FORCE, NEW, "another ground truth"),
    ],
)
def test_what_is_neither_old_nor_new_is_named(disk, in_force, faulty, words):
    """The file itself is named, once, with the whole way back."""
    (fault,) = look(disk, in_force).faults
    assert faulty == fault.path and words in fault_text(fault)
    way = way_out((fault,))
    for part in ("Put the old file back", "make --ground-truth new.json", "proposal apply"):
        assert part in way


def test_a_blacklist_that_nobody_applied_is_named():
    """One that is new in the configuration, and one that is no longer there."""
    both = {"ground_truth": OLD, "blacklist": LIST}
    (added,) = look({OLD: "old", LIST: "list"}, configured=both).faults
    assert "were scored without a blacklist" in fault_text(added)
    assert way_out((added,)).startswith("Take the new line out of contest.toml. A correction")
    own = OWN | {"blacklist": InputFile("black.csv", "list")}
    (left_out,) = look({OLD: "old"}, own=own).faults
    assert "no longer names the blacklist" in fault_text(left_out)
    assert "--blacklist new" in way_out((left_out,))
    assert () == look({OLD: "old", LIST: "list"}, OWN, both, own).faults
