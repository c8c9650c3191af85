# SPDX-License-Identifier: Apache-2.0
"""Guests come in by the door: the modules that `docs/recipes.md` lists, and no others of the core.

A package that is installed beside the referee uses these alone, so the core behind them may change.
The house's own guests are older than the door.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_layers import all_imports, extra_of, imports, module_name, modules

# The first walk through all files takes a second.
pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = sorted((ROOT / "tests/plugins").rglob("*.py"))
METER = (ROOT / "docs/meters.md").read_text(encoding="utf-8")

# What the house's own guests import behind the door. A line goes when nothing needs it any more; a
# new one says that the door lacks something.
BEHIND: dict[str, str] = {
    "aiotbench": """
        power.logs.plot referee.commands.energy referee.core.places referee.core.spreadsheet
        referee.formats.fast_reading referee.formats.image_numbers referee.formats.lines
        referee.formats.numbers
    """,
    "ceremony": """
        referee.core.dates referee.core.logins referee.core.marks referee.core.names
        referee.formats.truth_file referee.service.event.columns referee.service.event.marks
        referee.service.event.results_table referee.service.evidence.bundle
        referee.service.results.final_score referee.service.results.score_pictures
        referee.service.results.score_text referee.service.setup.contest_truth
        referee.service.setup.qr_code referee.store.publishing referee.store.team_words
    """,
    "coach": """
        power.energy.duration power.energy.moments power.logs.fonts referee.commands.numbers
        referee.core.order referee.formats.hashed_reads referee.programs.practice_folder
        referee.scoring.split_half referee.scoring.student referee.scoring.uncertainty
        referee.service.event.charts referee.service.evidence.bundle
        referee.service.evidence.facts_read referee.service.evidence.replay
        referee.service.evidence.slip referee.service.results.session_reports
        referee.service.scoreboard.team_charts referee.service.setup.contest_truth
        referee.service.setup.session_images referee.store.answers referee.store.inputs_in_force
        referee.store.requests referee.store.scores referee.web.server.headers
    """,
    "drill": """
        power.commands.seconds power.energy.verdict referee.core.actors referee.core.host_port
        referee.demo.imperfect_answers referee.demo.scenes referee.programs.child
        referee.programs.emulator referee.programs.following referee.programs.hosting
        referee.service.board.addresses referee.service.observation.processes
        referee.service.setup.certificate referee.service.setup.folder_lock
        referee.service.setup.lane_config referee.service.setup.lane_words
        referee.service.setup.preparation referee.service.setup.private_files
        referee.service.setup.real_path referee.service.setup.secrets_file
        referee.service.setup.session_images referee.service.teams.order
        referee.service.teams.registration referee.service.teams.registration_changes
        referee.store.audit referee.store.notices referee.store.operators referee.store.requests
    """,
    "ovic": """
        referee.commands.energy referee.commands.numbers referee.commands.operators
        referee.core.instant referee.core.logins referee.core.places referee.core.spreadsheet
        referee.formats.ground_truth referee.formats.hashed_reads referee.formats.image_file
        referee.formats.json_fields referee.formats.truth_file referee.scoring.coco
        referee.service.entry.team_list referee.service.preflight.disk
        referee.service.setup.clock referee.service.setup.finality
        referee.service.setup.folder_lock referee.service.setup.image_entries
        referee.service.setup.image_folder referee.service.setup.image_matching
        referee.service.setup.private_files referee.store.finals referee.store.notices
        referee.store.team_words referee.web.contest.replies referee.web.server.bodies
        referee.web.server.connection
    """,
    "publish": """
        power.commands.seconds referee.core.conditions referee.core.dates referee.core.names
        referee.core.turns referee.formats.json_text referee.formats.tables
        referee.programs.lower_priority referee.programs.terminal
        referee.service.event.charts referee.service.event.columns
        referee.service.event.figures referee.service.event.marks
        referee.service.event.newest_charts referee.service.event.results_table
        referee.service.event.standings referee.service.evidence.bundle
        referee.service.evidence.completeness referee.service.scoreboard.feed_data
        referee.service.scoreboard.feed_objects referee.service.scoreboard.live
        referee.service.scoreboard.publisher referee.service.scoreboard.race
        referee.service.setup.own_folder referee.service.setup.signing_key
        referee.store.inputs_in_force referee.store.publishing referee.store.replay
        referee.web.scoreboard.app referee.web.scoreboard.streams
    """,
    "season": """
        power.logs.fonts referee.core.conditions referee.core.dates referee.core.marks
        referee.core.order referee.core.places referee.formats.ground_truth
        referee.formats.image_ids referee.formats.tables referee.formats.workbook
        referee.programs.terminal referee.scoring.lpirc referee.scoring.pairwise
        referee.scoring.rare_images referee.scoring.score_report referee.scoring.split_half
        referee.scoring.uncertainty referee.service.event.chart_axes
        referee.service.event.charts referee.service.event.conditions
        referee.service.event.told_conditions referee.service.results.interval_text
        referee.service.results.score_text referee.service.setup.signing_key
    """,
    "stations": """
        power.commands.seconds referee.core.conditions referee.core.host_port
        referee.core.instant referee.core.turns referee.core.written_text
        referee.formats.json_text referee.programs.child referee.programs.supervisor
        referee.programs.terminal referee.service.event.columns referee.service.event.conditions
        referee.service.event.figures referee.service.event.newest_charts
        referee.service.event.results_table referee.service.event.told_conditions
        referee.service.scoreboard.live referee.service.scoreboard.publisher
        referee.service.setup.clock referee.service.setup.folder_lock referee.store.scores
        referee.web.scoreboard.app referee.web.scoreboard.streams referee.web.server.blocking
        referee.web.server.server
    """,
}
BEHIND_MOST = 183
"""How many these are; the number may only fall."""


def door() -> set[str]:
    """Return the modules that the page lists."""
    page = (ROOT / "docs/recipes.md").read_text(encoding="utf-8")
    section = page.partition("\n## The door\n")[2].partition("\n## ")[0]
    return {*re.findall(r"`((?:referee|power)\.[\w.]+)`", section)}


def core_of(source: str) -> set[str]:
    """Return the modules of the project that a source imports."""
    found = {name for _, name in imports(ast.parse(source), modules())}
    return {name for name in found if name.partition(".")[0] in ("referee", "power")}


def sources_from_outside() -> Iterator[tuple[str, str]]:
    """Yield what others write: the packages of `tests/plugins`, and the page's meter and test."""
    for path in PACKAGES:
        yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
    for code in re.findall(r"^```python\n(.*?)^```$", METER, re.MULTILINE | re.DOTALL):
        yield "docs/meters.md", code


def test_a_package_from_outside_uses_the_door_alone() -> None:
    """No package of `tests/plugins`, and no code of the page of meters, imports anything else."""
    used = {place: core_of(source) for place, source in sources_from_outside()}
    assert len(used) > 5 and any(used.values())
    beyond = {place: sorted(names - door()) for place, names in used.items()}
    assert {} == {place: names for place, names in beyond.items() if names}


def test_each_module_of_the_door_is_there_and_used() -> None:
    """The list names modules of the project, and each is imported by somebody whom it is for."""
    used = {name for path, _, name in all_imports() if extra_of(module_name(path))}
    used |= {name for _, source in sources_from_outside() for name in core_of(source)}
    assert door() <= modules()
    assert [] == sorted(door() - used)


def test_the_houses_guests_import_behind_the_door_what_is_listed() -> None:
    """Each module that one of them imports beside the door has its name in `BEHIND`."""
    found: dict[str, set[str]] = {name: set() for name in BEHIND}
    for path, _, name in all_imports():
        extra = extra_of(module_name(path))
        is_core = name.partition(".")[0] in ("referee", "power") and not extra_of(name)
        if extra and is_core and name not in ("referee", "referee.extras", *door()):
            found.setdefault(extra, set()).add(name)
    listed = {name: set(text.split()) for name, text in BEHIND.items()}
    new = {name: sorted(found[name] - listed.get(name, set())) for name in found}
    gone = {name: sorted(listed[name] - found[name]) for name in listed}
    assert ({}, {}) == tuple({key: it for key, it in one.items() if it} for one in (new, gone))
    assert BEHIND_MOST == sum(len(names) for names in listed.values())
