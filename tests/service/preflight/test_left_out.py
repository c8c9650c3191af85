# SPDX-License-Identifier: Apache-2.0
"""The list says what an event will miss."""

from __future__ import annotations

import dataclasses

import pytest

from referee.service.preflight.finding import Level
from referee.service.preflight.left_out import left_out_findings
from referee.service.setup.config import PracticeSection
from referee.service.teams.order import draw_order, set_order
from referee.service.teams.registration import add_team
from referee.service.teams.registration_changes import withdraw
from referee.store.teams import Registration


def found(event, **sections):
    """Return the findings by item; each of `sections` changes fields of one section."""
    changed = {
        name: dataclasses.replace(getattr(event.config, name), **values)
        for name, values in sections.items()
    }
    other = dataclasses.replace(event, config=dataclasses.replace(event.config, **changed))
    return {one.item: one for one in left_out_findings(other)}


def register(contest, *names, sessions=True):
    """Register teams."""
    for name in names:
        add_team(contest, name, Registration(sessions=sessions), "Kim")


@pytest.mark.parametrize("name", ["LPIRC", "lpirc", " LPIRC ", "", "  "])
def test_a_name_that_nobody_has_changed(contest, name):
    """Diplomas would bear the name of the template, or none."""
    finding = found(contest, contest={"name": name})["name of the event"]
    assert Level.WARN is finding.level
    assert "[contest] name" in finding.remedy


@pytest.mark.parametrize("name", ["LPIRC 2027", "TinyML day", "省電力大会"])
def test_a_name_of_its_own(contest, name):
    """Any other name is in order, and is told."""
    finding = found(contest, contest={"name": name})["name of the event"]
    assert (Level.OK, name) == (finding.level, finding.text)


def test_no_scoreboard(contest):
    """Without an address the audience sees nothing; with one all is well."""
    assert "[server] scoreboard" in found(contest)["scoreboard"].remedy
    with_it = found(contest, server={"scoreboard": "0.0.0.0:8002"})["scoreboard"]
    assert (Level.OK, "0.0.0.0:8002") == (with_it.level, with_it.text)


def test_no_running_order_names_the_lottery(contest):
    """Two teams without an order are a warning; a lottery, or an order by hand, ends it."""
    register(contest, "ants")
    assert "running order" not in found(contest)
    register(contest, "bees")
    finding = found(contest)["running order"]
    assert Level.WARN is finding.level
    assert "Lottery…" in finding.remedy
    assert "referee order lottery --seed" in finding.remedy
    draw_order(contest, "noon", "", "Kim")
    assert "drawn with 'noon'" in found(contest)["running order"].text
    set_order(contest, ["bees"], "a train", "Kim")
    assert (Level.OK, "2 teams, by hand") == (
        found(contest)["running order"].level,
        found(contest)["running order"].text,
    )


def test_teams_that_run_no_session_need_no_order(contest):
    """Neither those that hand in models only nor those that have withdrawn."""
    register(contest, "ants", "bees")
    register(contest, "wasps", sessions=False)
    withdraw(contest, "bees", "ill", "Kim")
    assert "running order" not in found(contest)


def test_rehearsal_images(contest, tmp_path):
    """They are left out, or lie elsewhere, or are the event's own: each is told, with a remedy."""
    assert "[practice] images" in found(contest)["rehearsal images"].remedy
    images, truth = tmp_path / "others", tmp_path / "others.json"
    named = {"images": images, "ground_truth": truth}
    assert str(images) in found(contest, practice=named)["rehearsal images"].text
    images.mkdir()
    assert "ground_truth" in found(contest, practice=named)["rehearsal images"].remedy
    truth.write_text("{}", encoding="utf-8")
    assert Level.OK is found(contest, practice=named)["rehearsal images"].level
    own = named | {"images": contest.config.images.folder}
    assert "other images" in found(contest, practice=own)["rehearsal images"].remedy


def test_a_rehearsal_misses_nothing(practice):
    """It has no audience, no order and no name of its own."""
    assert PracticeSection() == practice.config.practice
    assert {} == found(practice)
