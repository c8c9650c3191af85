# SPDX-License-Identifier: Apache-2.0
"""Where the energy went, on sessions whose parts are known by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.errors import InputError
from referee.extras.coach.rules.parts import (
    DEAREST,
    BaseSource,
    Phase,
    clipped,
    joined,
    length_s,
    where_it_went,
    without,
)
from referee.extras.coach.rules.played import Served
from tests.support.coached import Watts, answered, played_of, truth_of


def sequential(images=10, *, watts=None, update_s=1.0):
    """Return a client that fetches for 1 s, works for 3 s and posts, from 5 s on, until 60 s."""
    truth = truth_of(images)
    requests = [Served(5.0 + 4 * k, 1.0, (k + 1,), 1000) for k in range(images)]
    answers = [answered(truth, k + 1, 9.0 + 4 * k) for k in range(images)]
    watts = watts or Watts((0, 2), (5, 6), (45, 3), ended_s=60)
    return played_of(
        truth, answers, requests, watts, 60.0, update_s=update_s, sizes={1: (500, 375)}
    )


def test_the_parts_add_up_to_the_energy():
    """Before, waiting, working and after are those of the construction, to the joule."""
    went = where_it_went(sequential())
    joules = {part.phase: 3600 * part.energy_wh for part in went.parts}
    seconds = {part.phase: part.seconds for part in went.parts}
    expected = {Phase.BEFORE: 10, Phase.WAITING: 60, Phase.WORKING: 180, Phase.AFTER: 45}
    assert pytest.approx(expected) == joules
    times = {Phase.BEFORE: 5, Phase.WAITING: 10, Phase.WORKING: 30, Phase.AFTER: 15}
    assert pytest.approx(times) == seconds
    assert pytest.approx(sequential().energy_wh) == went.energy_wh
    assert pytest.approx((29.5, 29.5)) == (went.joules_per_image, went.joules_per_box)
    assert pytest.approx(0.0) == went.overlap


def test_a_client_that_fetches_ahead_does_not_wait():
    """A request is open while it works on an image: only the first one is waited for."""
    truth = truth_of(3)
    requests = [Served(0.0, 2.0, (1,)), Served(2.0, 4.0, (2,)), Served(6.0, 4.0, (3,))]
    answers = [answered(truth, 1, 6.0), answered(truth, 2, 10.0), answered(truth, 3, 14.0)]
    session = played_of(truth, answers, requests, Watts((0, 5), ended_s=14), 14.0)
    went = where_it_went(session)
    assert pytest.approx(2.0) == went.part(Phase.WAITING).seconds
    assert pytest.approx(0.8) == went.overlap


def test_a_device_that_works_before_its_first_image_has_no_base():
    """The power of a model that loads is not that of an idle device."""
    went = where_it_went(sequential(watts=Watts((0, 7), (5, 6), (45, 3), ended_s=60)))
    assert went.base is None


@pytest.mark.parametrize("idle_w", [295 / 60, 1000.0])
def test_an_idle_power_beyond_the_mean_of_the_session_is_refused(idle_w):
    """The session took 295 J in 60 s, so its mean is no idle power either."""
    assert where_it_went(sequential(), 0.99 * 295 / 60).base is not None
    with pytest.raises(InputError, match=r"whole session took 295 J in 60\.0 s"):
        where_it_went(sequential(), idle_w)


def test_the_base_is_measured_before_the_first_image_or_given():
    """Five seconds at 2 W are a base; a client that begins at once has none but the given one."""
    base = where_it_went(sequential()).base
    assert (pytest.approx(2.0), BaseSource.BEFORE_FIRST_IMAGE) == (base.power_w, base.source)
    assert pytest.approx(2.0 * 60 / 3600) == base.energy_wh
    assert where_it_went(sequential(update_s=2.0)).base is None
    given_w = where_it_went(sequential(update_s=2.0), 1.5).base
    assert (1.5, BaseSource.GIVEN) == (given_w.power_w, given_w.source)


def test_the_dearest_image_comes_first_with_its_size_and_boxes():
    """A burst of power in the time of one image makes it the dearest."""
    went = where_it_went(sequential(watts=Watts((0, 2), (13, 30), (17, 6), ended_s=60)))
    dearest = went.dearest[0]
    assert (3, pytest.approx(120.0), pytest.approx(4.0), 1) == (
        dearest.image_id,
        3600 * dearest.energy_wh,
        dearest.seconds,
        dearest.boxes,
    )
    assert (500, 375) in [one.size for one in went.dearest]
    assert DEAREST == len(went.dearest)
    assert went.is_resolved
    assert not where_it_went(sequential(update_s=5.0)).is_resolved


def test_the_course_has_each_image_once():
    """Tenths add up to all images and to the energy; an image answered again counts once."""
    session = sequential()
    again = played_of(
        session.truth,
        [*session.answers, answered(session.truth, 1, 50.0)],
        session.requests,
        session.course,
        60.0,
    )
    tenths = where_it_went(again).tenths
    assert (10, 10) == (len(tenths), sum(one.images for one in tenths))
    assert pytest.approx(session.energy_wh) == sum(one.energy_wh for one in tenths)


def test_a_session_without_requests_and_answers_has_parts():
    """A team that only logged in has all of its energy before the first image."""
    went = where_it_went(played_of(truth_of(3), [], [], Watts((0, 5), ended_s=20), 20.0))
    assert pytest.approx(20.0) == went.part(Phase.BEFORE).seconds
    assert (0, None, None, ()) == (went.images, went.joules_per_image, went.overlap, went.dearest)


def test_without_an_answer_nothing_comes_after_the_last_one():
    """A client that fetches an image and answers none works until the end."""
    played = played_of(truth_of(3), [], [Served(5.0, 1.0, (1,))], Watts((0, 5), ended_s=20), 20.0)
    seconds = [part.seconds for part in where_it_went(played).parts]
    assert pytest.approx([5.0, 1.0, 14.0, 0.0]) == seconds


SPANS = st.lists(
    st.tuples(st.integers(0, 60), st.integers(0, 9)).map(lambda it: (it[0], it[0] + it[1]))
)


@given(SPANS, SPANS)
def test_spans_without_others_are_those_seconds(spans, holes):
    """What is left holds exactly the seconds that are in the spans and in no hole."""
    whole, out = joined(spans), joined(holes)
    left = without(whole, out)
    seconds = {second for begin, end in spans for second in range(begin, end)}
    seconds -= {second for begin, end in holes for second in range(begin, end)}
    assert len(seconds) == length_s(left)
    inside = clipped(left, (10, 20))
    assert len([one for one in seconds if 10 <= one < 20]) == length_s(inside)
