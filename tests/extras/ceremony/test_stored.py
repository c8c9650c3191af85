# SPDX-License-Identifier: Apache-2.0
"""A ceremony reveals what the approval stored, beside what the freeze shows."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from referee.errors import Refusal
from referee.extras.ceremony.scenes import scenes_of
from referee.extras.ceremony.section import CeremonySection
from referee.extras.ceremony.stored import pictured_teams, read_ceremony, winners_picture
from referee.service.event.finalizing import finalize, reopen
from referee.service.event.results import read_results
from referee.service.scoreboard.freezing import thaw
from referee.service.teams.registration_changes import rename


def hidden(contest):
    """Return who is hidden at the beginning."""
    return scenes_of(*read_ceremony(contest))[1].hidden


def test_provisional_results_have_no_ceremony(event):
    """There is nothing to reveal, also after the results were opened again."""
    assert read_ceremony(event.contest) is None
    finalize(event.contest, ["Ada"])
    assert read_ceremony(event.contest) is not None
    reopen(event.contest, "Ada", "a mistake")
    assert read_ceremony(event.contest) is None


def test_what_is_revealed_is_what_was_approved(final):
    """The results are the stored ones, and those are hidden that ran after the freeze."""
    results, _ = read_ceremony(final.contest)
    assert read_results(final.contest) == results
    assert ["bees", "wasps"] == hidden(final.contest)


def test_a_thaw_after_the_approval_changes_no_ceremony(final):
    """So it can be shown again."""
    final.contest.clock.advance(60)
    thaw(final.contest, "Kim")
    assert ["bees", "wasps"] == hidden(final.contest)


def test_a_thaw_before_the_approval_leaves_nothing_that_was_hidden(event):
    """Then the ceremony reveals nothing; without a scoreboard nobody has seen a result."""
    thaw(event.contest, "Kim")
    event.contest.clock.advance(60)
    finalize(event.contest, ["Ada"])
    assert ["ants", "bees", "wasps"] == hidden(event.contest)
    config = event.contest.config
    server = replace(config.server, scoreboard="127.0.0.1:8002")
    assert [] == hidden(replace(event.contest, config=replace(config, server=server)))


def test_the_picture_is_of_the_winners_best_detection(final):
    """It is a PNG of one image; a second place has none, even if that team allows it."""
    results, _ = read_ceremony(final.contest)
    ants, bees, wasps = (
        next(it.session for it in results.entries if it.team == team)
        for team in ("ants", "bees", "wasps")
    )
    with Image.open(io.BytesIO(winners_picture(final.contest, bees))) as picture:
        assert "PNG" == picture.format
        pixels = np.asarray(picture.convert("RGB"))
    assert (pixels == (0x2C, 0xA0, 0x2C)).all(axis=2).sum() > 50
    for session in (ants, wasps, 99):
        with pytest.raises(Refusal) as refused:
            winners_picture(final.contest, session)
        assert "picture_closed" == refused.value.code


def test_before_the_approval_there_is_no_picture(event):
    """A picture would tell who leads."""
    with pytest.raises(Refusal) as refused:
        winners_picture(event.contest, 2)
    assert "picture_closed" == refused.value.code


def test_a_leave_goes_with_a_team_through_its_names(event):
    """The configuration may have any name that the team had."""
    rename(event.contest, "bees", "honey bees", "Kim")
    finalize(event.contest, ["Ada"])
    results, _ = read_ceremony(event.contest)
    assert {"ants", "honey bees"} == pictured_teams(event.contest, results)


def test_a_name_that_no_team_has_is_open_before_the_results_are_final(event):
    """A mistyped team would have no picture on its card; a team's first name is no mistake."""
    rename(event.contest, "ants", "termites", "Ada")
    section = CeremonySection(("bees", "ants", "wasp"))
    config = replace(event.contest.config, extras={"ceremony": section})
    (point,) = read_results(replace(event.contest, config=config)).open
    assert "names 'wasp', and no team has that name; did you mean 'wasps'?" in point
    assert () == tuple(read_results(event.contest).open)
