# SPDX-License-Identifier: Apache-2.0
"""The members of a real bundle fit the schemas of `docs/evidence.md`."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from pathlib import Path

import pytest

from referee.service.evidence.bundle import MEMBERS, write_bundle
from referee.service.evidence.bundle_file import OPTIONAL
from tests.support.contests import make_contest, with_blacklist
from tests.support.fakes import FakeClock
from tests.support.played_sessions import play

PAGE = (Path(__file__).parents[3] / "docs/evidence.md").read_text(encoding="utf-8")
SCHEMAS = PAGE.partition("## Schemas")[2].partition("\n## ")[0]
KINDS = {"whole numbers": int, "numbers": float, "number": float, "text": str}


@pytest.fixture(scope="module")
def members(tmp_path_factory):
    """Return the members of a whole session's bundle."""
    folder = tmp_path_factory.mktemp("schemas")
    contest = with_blacklist(make_contest(folder, FakeClock(), mode="event", seconds=20), "2,1\n")
    write_bundle(contest, play(contest), folder / "bundle.zip")
    contest.database.close()
    with zipfile.ZipFile(folder / "bundle.zip") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def schemas(suffixes):
    """Return the cells of the documented members with these suffixes, by name."""
    rows = [line.strip("| ").split("|") for line in SCHEMAS.splitlines() if line.startswith("| `")]
    found = {row[0].strip(" `"): [cell.strip() for cell in row[1:]] for row in rows}
    return {name: cells for name, cells in found.items() if name.endswith(suffixes)}


def names_in(text):
    """Return the names in backquotes."""
    return re.findall(r"`([^`]+)`", text)


def test_every_member_has_a_schema():
    """Each member but the configuration is in the tables; late rows are as those in time."""
    documented = schemas((".csv", ".json", ".jsonl")).keys() | {"late_detections.csv"}
    assert {*MEMBERS, *OPTIONAL, "manifest.json"} == documented | {"config.toml"}


@pytest.mark.parametrize("name", sorted(schemas(".csv")))
def test_tables_fit_their_schemas(members, name):
    """Each cell of each table is of its kind, and only the documented ones are empty."""
    columns, empty, *_ = [*schemas(".csv")[name], ""]
    kinds = {}
    for part in columns.split(". "):
        names, _, kind = part.rpartition(": ")
        kinds |= {column: KINDS[kind.rstrip(".")] for column in names_in(names)}
    lines = list(csv.reader(io.StringIO(members[name].decode("utf-8"), newline="")))
    header = list(kinds) if name in ("detections.csv", "blacklist.csv") else lines.pop(0)
    assert set(header) == set(kinds)
    assert lines or name == "frames.csv"
    for line in lines:
        for column, cell in zip(header, line, strict=True):
            assert cell or column in names_in(empty)
            kinds[column](cell or 0)


@pytest.mark.parametrize("name", sorted(schemas((".json", ".jsonl"))))
def test_objects_fit_their_schemas(members, name):
    """Each object has each documented field."""
    texts = members[name].splitlines() if name.endswith(".jsonl") else [members[name]]
    wanted = set(names_in(schemas((".json", ".jsonl"))[name][0])) - {"text", "hex"}
    assert texts
    for text in texts:
        assert set() == wanted - json.loads(text).keys()
