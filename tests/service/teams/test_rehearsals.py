# SPDX-License-Identifier: Apache-2.0
"""The rehearsal progress of an event's teams."""

from __future__ import annotations

from dataclasses import replace

import pytest

from referee.errors import InputError
from referee.programs.practice_folder import rehearsal_config
from referee.service.entry.admission import Admission, SessionCache
from referee.service.entry.devices import OneDevice
from referee.service.setup.config import PracticeSection
from referee.service.setup.contest import open_contest
from referee.service.setup.preparation import prepare_contest
from referee.service.teams.registration import add_team
from referee.service.teams.registration_changes import amend, new_passwords, rename
from referee.service.teams.rehearsals import RehearsalProgress, progress_text, read_progress
from referee.service.teams.roster import read_roster
from referee.service.teams.roster_view import shown_roster
from referee.store.teams import Registration
from tests.support.contests import write_images, write_truth
from tests.support.events import Event
from tests.support.fakes import FakeMeter, running_desk
from tests.support.prompt_journal import PromptJournal
from tests.support.shown import as_json


@pytest.fixture
def event(contest, tmp_path):
    """Return an event with two teams and with other images for rehearsals."""
    write_images(tmp_path / "others", ["1.jpg", "2.jpg", "3.jpg"])
    write_truth(tmp_path / "others.json", [(n, f"{n}.jpg") for n in (1, 2, 3)])
    section = PracticeSection(images=tmp_path / "others", ground_truth=tmp_path / "others.json")
    event = replace(contest, config=replace(contest.config, practice=section))
    for name in ("ants", "bees"):
        add_team(event, name, Registration(), "Kim")
    return event


@pytest.fixture
def rehearsal(event, clock):
    """Return a running rehearsal of the event."""
    config = rehearsal_config(event.config)
    prepare_contest(config)[0].close()
    contest = open_contest(config, clock)
    meter = FakeMeter(clock)
    with running_desk(contest, meter) as desk:
        yield Event(contest, desk, meter)
    contest.database.close()


def test_the_steps_are_done_one_after_the_other(event, rehearsal):
    """A login, an answer and a score are a step each; a fetch is one of its own."""
    assert "...." == progress_text(read_progress(event)["ants"])
    number = rehearsal.desk.begin("ants", "10.0.0.2")
    assert RehearsalProgress(logged_in=True) == read_progress(event)["ants"]
    rehearsal.answer(number, [1])
    assert "L.A." == progress_text(read_progress(event)["ants"])
    rehearsal.contest.clock.advance(601)
    rehearsal.settle(number)
    progress = read_progress(event)
    assert ("L.AS", ("fetched",)) == (progress_text(progress["ants"]), progress["ants"].missing)
    assert RehearsalProgress() == progress["bees"]
    rename(event, "ants", "termites", "Kim")
    assert progress["ants"] == read_progress(event)["termites"]


def test_a_rehearsal_is_the_event_with_other_images(event):
    """It has the event's teams, meter and length, and no audience."""
    config = rehearsal_config(event.config)
    assert (event.config.teams, event.config.meter) == (config.teams, config.meter)
    assert ("practice", 600) == (config.contest.mode, config.contest.seconds)
    assert not config.admits_anybody
    assert config.server.scoreboard is None
    assert config.storage.folder == event.config.rehearsals


def test_a_rehearsal_with_the_events_images_is_refused(event):
    """Neither missing images nor the event's own make a rehearsal."""
    config = event.config
    for images, words in ((None, "name other images"), (config.images.folder, "must be other")):
        section = replace(config.practice, images=images)
        with pytest.raises(InputError, match=words):
            rehearsal_config(replace(config, practice=section))


def test_the_rehearsals_own_page_has_the_progress_and_the_registrations(event, rehearsal):
    """While the rehearsal runs, its page has each progress, organisation and prizes by now."""
    amend(
        event, "ants", lambda old: replace(old, organisation="Hill", prizes=False), "a form", "Kim"
    )
    rehearsal.answer(rehearsal.desk.begin("ants", "10.0.0.2"), [1])
    page = as_json(shown_roster(read_roster(rehearsal.contest), read_progress(rehearsal.contest)))
    (ants,) = page["teams"]
    assert ("ants", "Hill", False) == (ants["team"], ants["organisation"], ants["prizes"])
    assert [True, False, True, False] == list(ants["rehearsal"].values())


def test_a_rehearsal_takes_the_words_of_the_events_teams(event, rehearsal):
    """Login and earlier name log in there; the page has the event's login; the progress counts."""
    add_team(event, "東京大学", Registration(), "Kim", "todai")
    passwords = new_passwords(event, [], "Kim")
    rename(event, "東京大学", "京都大学", "Kim")
    contest = rehearsal.contest
    devices = OneDevice(contest, PromptJournal(contest.database))
    admission = Admission(contest, SessionCache(contest.database), None, devices)
    for word in ("todai", "Todai", "東京大学", "京都大学"):
        assert "京都大学" == admission.require_team(word, passwords["東京大学"], "10.0.0.2")
    rehearsal.desk.begin("京都大学", "10.0.0.2")
    assert "todai" == read_roster(contest).find("京都大学").login
    assert read_progress(event)["京都大学"].logged_in


@pytest.mark.parametrize("word", ["rocket", "Röcket", "Rakete"])
def test_a_rehearsal_under_any_word_of_a_team_counts_for_it(event, rehearsal, word):
    """A rehearsal database may know a team by its login or by an earlier name."""
    add_team(event, "Röcket", Registration(), "Kim")
    rename(event, "Röcket", "Rakete", "Kim")
    rehearsal.desk.begin(word, "10.0.0.2")
    assert RehearsalProgress(logged_in=True) == read_progress(event)["Rakete"]
