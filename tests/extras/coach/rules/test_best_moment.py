# SPDX-License-Identifier: Apache-2.0
"""The best moment to log out, on sessions whose answer is known by hand."""

from __future__ import annotations

import pytest

from referee.extras.coach.rules.best_moment import best_moment
from referee.extras.coach.rules.moments import IMAGES_LEAST, MOMENTS_MOST
from tests.support.coached import Watts, answered, played_of, truth_of


def test_a_client_that_idles_should_have_logged_out_with_its_last_answer():
    """Half of the energy comes after the last answer: twice the score there, whichever images."""
    truth = truth_of(40)
    answers = [answered(truth, image, 1.5 * image) for image in range(1, 41)]
    best = best_moment(played_of(truth, answers, [], Watts((0, 5), ended_s=120), 120.0))
    assert (60.0, 60.0) == (best.best.at_s, best.high.at_s)
    assert best.is_better
    assert pytest.approx((1.0, 1.0, 1.0)) == (best.gain_low, best.gain, best.gain_high)
    assert pytest.approx((1.0, 5 * 60 / 3600)) == (best.best.mean_ap, best.best.energy_wh)


def test_a_client_that_answers_its_best_images_first_should_have_stopped_between():
    """Forty right answers, then forty wrong ones that take as long: the middle is the best."""
    truth = truth_of(80)
    answers = [answered(truth, image, float(image), right=image <= 40) for image in range(1, 81)]
    best = best_moment(played_of(truth, answers, [], Watts((0, 5), ended_s=81), 81.0))
    assert abs(best.best.at_s - 40) <= 2
    assert best.low.at_s <= 40 <= best.high.at_s < 80
    assert best.is_better


def test_a_step_of_the_power_makes_the_moment_before_it_the_best():
    """Images that cost ten times as much from 60 s on lower the score, for sure."""
    truth = truth_of(120)
    answers = [answered(truth, image, float(image)) for image in range(1, 121)]
    watts = Watts((0, 2), (60, 20), ended_s=120.5)
    best = best_moment(played_of(truth, answers, [], watts, 120.5))
    assert 55 <= best.best.at_s <= 61
    assert best.is_better


def test_a_steady_client_gets_no_moment_named():
    """Where the score only rises, no moment is better than the end."""
    truth = truth_of(60)
    answers = [answered(truth, image, 10.0 + image) for image in range(1, 61)]
    best = best_moment(played_of(truth, answers, [], Watts((0, 5), ended_s=70), 70.0))
    assert not best.is_better
    assert 70.0 == best.high.at_s == best.best.at_s


def test_what_the_meter_leaves_open_is_no_gain():
    """A gain below what the updates leave open is not named."""
    truth = truth_of(40)
    answers = [answered(truth, image, float(image)) for image in range(1, 41)]

    class Coarse(Watts):
        def until(self, moment_s):
            found = super().until(moment_s)
            return type(found)(found.energy_wh, 0.2 * found.energy_wh, 0.0, 0.0, 0.0)

    exact = best_moment(played_of(truth, answers, [], Watts((0, 5), ended_s=44), 44.0))
    coarse = best_moment(played_of(truth, answers, [], Coarse((0, 5), ended_s=44), 44.0))
    assert exact.is_better
    assert not coarse.is_better
    assert 44.0 == coarse.high.at_s


def test_no_moment_stands_on_a_few_images():
    """Moments with fewer than twenty answered images are not looked at, and sixty are the most."""
    truth = truth_of(300)
    answers = [answered(truth, image, float(image)) for image in range(1, 301)]
    best = best_moment(played_of(truth, answers, [], Watts((0, 5), ended_s=301), 301.0))
    assert IMAGES_LEAST <= best.moments[0].images
    assert len(best.moments) <= MOMENTS_MOST
    assert 301.0 == best.moments[-1].at_s
    few = played_of(truth_of(5), answers[:5], [], Watts((0, 5), ended_s=9), 9.0)
    assert [5.0, 9.0] == [one.at_s for one in best_moment(few).moments]


def test_after_few_answers_too_a_logout_is_missed():
    """Five images, then 55 s of nothing: twelve times the score, since no image can change that."""
    truth = truth_of(300)
    answers = [answered(truth, image, float(image)) for image in range(1, 6)]
    best = best_moment(played_of(truth, answers, [], Watts((0, 5), ended_s=60), 60.0))
    assert best.is_better
    assert pytest.approx(11.0) == best.gain


def test_moments_with_a_few_images_between_them_are_not_told_apart():
    """Ten wrong answers at the end lower the score: a moment twenty images earlier tells it."""
    truth = truth_of(80)
    answers = [answered(truth, image, float(image), right=image <= 70) for image in range(1, 81)]
    best = best_moment(played_of(truth, answers, [], Watts((0, 5), ended_s=81), 81.0))
    assert (60.0, True) == (best.best.at_s, best.is_better)
    assert 70.0 <= best.high.at_s < 81.0
    fewer = played_of(truth, answers[55:], [], Watts((0, 5), ended_s=81), 81.0)
    assert not best_moment(fewer).is_better


def test_an_end_within_an_update_of_the_last_answer_is_no_other_moment():
    """The way of the logout itself cannot be saved."""
    truth = truth_of(30)
    answers = [answered(truth, 30, 29.5)]
    best = best_moment(played_of(truth, answers, [], Watts((0, 5), ended_s=30), 30.0))
    assert [30.0] == [one.at_s for one in best.moments]


def test_a_session_without_a_score_has_no_best_moment():
    """Only wrong boxes, and no answer at all, are sessions without a score above 0."""
    truth = truth_of(30)
    wrong = [answered(truth, image, float(image), right=False) for image in range(1, 31)]
    for answers in (wrong, []):
        session = played_of(truth, answers, [], Watts((0, 5), ended_s=40), 40.0)
        assert best_moment(session) is None


def test_progress_tells_each_moment():
    """Who waits sees how many of the moments are scored."""
    truth, told = truth_of(25), []
    answers = [answered(truth, image, float(image)) for image in range(1, 26)]
    session = played_of(truth, answers, [], Watts((0, 5), ended_s=30), 30.0)
    best_moment(session, progress=lambda done, total: told.append((done, total)))
    assert [(number, 7) for number in range(1, 8)] == told
