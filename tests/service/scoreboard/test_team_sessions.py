# SPDX-License-Identifier: Apache-2.0
"""A team's session is shown when its result is public, and its mistakes when all is final."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from PIL import Image

from referee.core.states import EndCause
from referee.errors import Refusal
from referee.service.event.finalizing import finalize, reopen
from referee.service.event.results import read_results
from referee.service.scoreboard.freezing import freeze, thaw
from referee.service.scoreboard.published_images import count_published
from referee.service.scoreboard.team_sessions import TeamSessions, rates_of
from referee.service.teams.registration_changes import withdraw
from referee.store.requests import Request, insert_requests


@pytest.fixture
def sessions(event):
    """Return what makes the pictures, as a fresh process does."""
    return TeamSessions(event.contest)


def publishing(contest, *, images=True, audience="127.0.0.1:8002"):
    """Return a contest whose organisers publish its images, or do not."""
    config = contest.config
    server = replace(config.server, scoreboard=audience)
    scoreboard = replace(config.scoreboard, publish_images=images)
    return replace(contest, config=replace(config, server=server, scoreboard=scoreboard))


def view(event):
    """Return what the public sees now."""
    return event.publisher.refresh().publication.view


def test_a_session_with_a_result_has_its_charts(event, sessions):
    """Power, requests and the curve of each class with ground truth; equal bytes each time."""
    event.register("ants")
    number = event.play("ants", found=6)
    course, curves = sessions.course(view(event), number), sessions.curves(view(event), number)
    assert b"requests / s" in course and b"cat 0.75" in curves
    again = TeamSessions(event.contest)
    assert course == again.course(view(event), number)
    assert curves == again.curves(view(event), number)


@pytest.mark.parametrize("ran_s", [0.4, 1.0, 4.5, 37.25, 99.99, 100.0, 601.3])
def test_a_steady_client_has_one_rate_until_the_end(ran_s):
    """Wherever a session ends, ten requests a second are ten in each bin, the last one too."""
    count = round(10 * ran_s)
    times_s = [(place + 0.5) * ran_s / count for place in range(count)] + [ran_s, ran_s + 1]
    rates, bin_s = rates_of(times_s, ran_s)
    assert len(rates) <= 100 and pytest.approx(ran_s) == len(rates) * bin_s
    assert count == pytest.approx(sum(rate for _, rate in rates) * bin_s)
    assert all(abs(rate - count / ran_s) <= 1 / bin_s for _, rate in rates)
    assert ran_s > rates[-1][0]


def test_a_session_of_no_time_has_no_rate():
    """One that was stopped at its start divides nothing."""
    assert ([], 0.0) == rates_of([0.0], 0.0)


def test_a_session_without_a_result_is_hidden(event, sessions):
    """A running session, a void one and an unknown one are refused alike."""
    event.register("ants", "bees")
    running = event.begin("ants")
    event.contest.clock.advance(60)
    for number in (running, 99):
        with pytest.raises(Refusal, match="no public result"):
            sessions.course(view(event), number)
    event.desk.steps_of(running).end(running, EndCause.STOP, "Kim")
    event.settle(running)
    assert sessions.course(view(event), running)
    event.desk.steps_of(running).void(running, "Kim", "wrong images")
    with pytest.raises(Refusal, match="no public result"):
        sessions.course(view(event), running)


def test_late_requests_change_no_chart(event):
    """A team that goes on asking after its end changes nothing that the public has seen."""
    event.register("ants")
    number = event.play("ants")
    before = TeamSessions(event.contest).course(view(event), number)
    late = Request(number, 61.0, "", "GET", "/status", 401, None, 0, 0, 9, 0.1, "::1")
    with event.contest.database.write() as connection:
        insert_requests(connection, [late])
    assert before == TeamSessions(event.contest).course(view(event), number)


def test_a_freeze_hides_new_sessions_and_keeps_old_ones(event, sessions):
    """During a freeze the charts are those of before it."""
    event.register("ants", "bees")
    first = event.play("ants")
    freeze(event.contest, "Kim")
    before = sessions.curves(view(event), first)
    hidden = event.play("bees")
    event.desk.steps_of(first).void(first, "Kim", "wrong images")
    assert before == TeamSessions(event.contest).curves(view(event), first)
    with pytest.raises(Refusal, match="no public result"):
        sessions.course(view(event), hidden)
    thaw(event.contest, "Kim")
    assert sessions.course(view(event), hidden)


def test_final_results_publish_no_image_by_themselves(event, sessions):
    """There is no sentence on an image, no picture has an address, and the count is 0."""
    event.register("ants")
    number = event.play("ants", found=6)
    finalize(event.contest, ["Ada"])
    assert [] == sessions.captions(view(event), number)
    with pytest.raises(Refusal, match="publishes none of its images"):
        sessions.picture(view(event), number, 0)
    assert sessions.curves(view(event), number)
    entries = read_results(event.contest).entries
    assert 0 == count_published(event.contest, entries)
    assert 0 == count_published(publishing(event.contest, audience=None), entries)


def test_the_count_is_that_of_the_images_on_all_pages(event):
    """An image on the pages of two teams counts once, and a void session counts nothing."""
    event.register("ants", "bees", "wasps")
    played = [event.play(team, found=found) for team, found in (("ants", 6), ("bees", 7))]
    number = event.play("wasps", found=1)
    event.desk.steps_of(number).void(number, "Kim", "wrong images")
    contest = publishing(event.contest)
    before = count_published(contest, read_results(contest).entries)
    withdraw(event.contest, "wasps", "ill", "Kim")
    finalize(event.contest, ["Ada"])
    shown = TeamSessions(contest)
    captions = {line for number in played for line in shown.captions(view(event), number)}
    assert {line.partition(":")[0] for line in captions} == {"image 7", "image 8"}
    assert [2, 2] == [before, count_published(contest, read_results(contest).entries)]


def test_a_published_picture_has_not_the_images_own_pixels(event):
    """It is a new PNG with half of the image's sides at most, and 320 pixels at most."""
    event.register("ants")
    number = event.play("ants", found=6)
    finalize(event.contest, ["Ada"])
    made = TeamSessions(publishing(event.contest)).picture(view(event), number, 0)
    entry = event.contest.images[6]
    with Image.open(io.BytesIO(made)) as picture:
        assert "PNG" == picture.format and not picture.info
        assert picture.width <= min(320, entry.width / 2)
        assert picture.height <= min(320, entry.height / 2)


def test_mistakes_are_shown_only_after_the_results_are_final(event):
    """Before that, in a freeze and after a reopening, no address has a picture."""
    sessions = TeamSessions(publishing(event.contest))
    event.register("ants")
    number = event.play("ants", found=6)

    def hidden():
        for ask in (
            lambda: sessions.captions(view(event), number),
            lambda: sessions.picture(view(event), number, 0),
        ):
            with pytest.raises(Refusal, match="after the results are final"):
                ask()

    hidden()
    freeze(event.contest, "Kim")
    finalize(event.contest, ["Ada"])
    hidden()
    thaw(event.contest, "Kim")
    captions = sessions.captions(view(event), number)
    assert 2 == len(captions)
    assert {"image 7: cat: missed", "image 8: cat: missed"} == set(captions)
    assert sessions.picture(view(event), number, 1).startswith(b"\x89PNG")
    with pytest.raises(Refusal, match="no picture 2"):
        sessions.picture(view(event), number, 2)
    reopen(event.contest, "Ada", "a mistake")
    hidden()


def test_a_session_without_an_answer_has_empty_curves(event, sessions):
    """Nothing posted gives curves of area 0, and no failure."""
    event.register("ants")
    number = event.play("ants", found=0)
    assert b"cat 0.00" in sessions.curves(view(event), number)
