# SPDX-License-Identifier: Apache-2.0
"""The section [publish]: whose evidence a site offers, and what is said of a wrong name."""

from __future__ import annotations

from dataclasses import replace

from referee.extras.publish.section import PublishSection, publish_of, unknown_consenting
from referee.service.setup.config_file import load_config
from referee.service.teams.registration import add_team
from referee.store.teams import Registration
from tests.support.contests import make_contest, write_config
from tests.support.fakes import FakeClock


def test_without_a_section_nobody_consents(tmp_path):
    """Evidence leaves the laptop by a setting that says so."""
    config = load_config(write_config(tmp_path))
    assert PublishSection() == publish_of(config)
    assert () == publish_of(config).bundles


def test_a_section_is_read(tmp_path):
    """Names, licence and citation are texts."""
    path = write_config(tmp_path)
    lines = '\n[publish]\nbundles = ["ants"]\nlicence = "CC-BY-4.0"\ncitation = "A. Author"\n'
    path.write_text(path.read_text() + lines)
    assert PublishSection(("ants",), "CC-BY-4.0", "A. Author") == publish_of(load_config(path))


def test_a_name_that_no_team_has_is_an_open_point(tmp_path):
    """Before the approval somebody corrects it, or takes it out."""
    contest = make_contest(tmp_path, FakeClock(), mode="event")
    add_team(contest, "ants", Registration(), "Kim")
    named = PublishSection(bundles=("ants", "aunts"))
    config = replace(contest.config, extras={"publish": named})
    with contest.database.read() as connection:
        found = [*unknown_consenting(replace(contest, config=config), connection, ["ants"])]
    contest.database.close()
    assert 1 == len(found)
    assert "'aunts'" in found[0] and "did you mean 'ants'" in found[0]
