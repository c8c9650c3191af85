# SPDX-License-Identifier: Apache-2.0
"""What another way of working would have given, on sessions whose answer is known by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from referee.core.detections import Detections
from referee.extras.coach.rules.parts import where_it_went
from referee.extras.coach.rules.played import Answered, Served
from referee.extras.coach.rules.what_if import Case, WhyNot, what_if
from tests.support.coached import Watts, answered, played_of, truth_of


def cases_of(session, idle_w=None):
    """Return the cases of a session by their kind; of the classes all."""
    found = what_if(session, where_it_went(session, idle_w))
    return {one.case: one for one in reversed(found)}


def fetching(images=60, *, took_s, sent_bytes, work_s=1.0, watts=5.0):
    """Return a client that fetches, works for a second, and fetches again."""
    truth, at_s, requests, answers = truth_of(images, 2), 0.0, [], []
    for k in range(images):
        requests.append(Served(at_s, took_s[k], (k + 1,), int(sent_bytes[k])))
        at_s += took_s[k] + work_s
        answers.append(answered(truth, k + 1, at_s))
    return played_of(truth, answers, requests, Watts((0, watts), ended_s=at_s), at_s)


def test_a_logout_with_the_last_answer_saves_what_came_after_it():
    """Sixty more seconds after sixty at the same power: twice the score; without them no case."""
    session = fetching(took_s=np.zeros(60), sent_bytes=np.ones(60))
    assert WhyNot.LOGGED_OUT is cases_of(session)[Case.LOGOUT].why_not
    watts = Watts((0, 5), ended_s=120)
    idle = replace(session, course=watts, ended_s=120.0, energy_wh=watts.until(120).energy_wh)
    case = cases_of(idle)[Case.LOGOUT]
    assert (pytest.approx(1.0), pytest.approx(60.0)) == (case.gain, case.seconds)


def test_without_waiting_the_same_answers_cost_less():
    """Half of the time is waiting at the same power: twice the score."""
    session = fetching(took_s=np.ones(60), sent_bytes=np.ones(60))
    case = cases_of(session)[Case.PIPELINED]
    assert (pytest.approx(1.0), pytest.approx(60.0)) == (case.gain, case.seconds)
    assert pytest.approx(session.energy_wh / 2) == case.energy_wh


def test_archives_save_what_a_request_takes_beside_its_bytes():
    """Requests take 0.5 s and a second a megabyte: 59 times 0.5 s are saved, and no byte."""
    mega = np.linspace(0.1, 1.0, 60)
    session = fetching(took_s=0.5 + mega, sent_bytes=1e6 * mega)
    case = cases_of(session)[Case.ARCHIVES]
    assert pytest.approx(59 * 0.5, rel=1e-6) == case.seconds
    assert case.gain > 0


def test_archives_are_not_told_where_the_session_does_not_carry_them():
    """Few requests, archives in use, times that follow the bytes alone, and a track without."""
    mega = np.linspace(0.1, 1.0, 60)
    few = fetching(10, took_s=np.ones(10), sent_bytes=np.ones(10))
    bytes_alone = fetching(took_s=mega, sent_bytes=1e6 * mega)
    used = replace(few, requests=[Served(0.0, 1.0, (1, 2))])
    for session, why in (
        (few, WhyNot.FEW_REQUESTS),
        (used, WhyNot.ARCHIVES_USED),
        (bytes_alone, WhyNot.NO_OVERHEAD),
        (replace(bytes_alone, has_archives=False), WhyNot.NO_ARCHIVES),
    ):
        assert why is cases_of(session)[Case.ARCHIVES].why_not


def costly_class(extra_s):
    """Return a client for which each box of class 2, always wrong, takes some seconds more."""
    images, at_s, answers = 90, 0.0, []
    truth = truth_of(images, 2)
    chance = np.random.default_rng(3)
    for image in range(1, images + 1):
        wrong = int(chance.integers(0, 3))
        rows = [(image, 2, 0.5, 300.0, 300.0, 340.0, 340.0)] * wrong
        if image % 2:
            rows.append((image, 1, 0.9, 10.0, 10.0, 49.0, 49.0))
        at_s += 1.0 + extra_s * wrong + float(chance.uniform(0, 0.01))
        answers.append(Answered(at_s, Detections.from_rows(rows), np.array([image])))
    return played_of(truth, answers, [], Watts((0, 5), ended_s=at_s), at_s)


def test_a_class_that_costs_and_brings_nothing_is_named():
    """Class 2 has an AP of 0 and takes two seconds a box: without it the score rises."""
    session = replace(costly_class(2.0), requests=[Served(0.0, 0.0, (1,))])
    case = cases_of(session)[Case.CLASS_LEFT_OUT]
    assert (2, None) == (case.class_id, case.why_not)
    assert case.gain > 0.5


def test_a_class_that_costs_no_time_is_not_named():
    """Boxes that take no time of their own are not to blame."""
    session = replace(costly_class(0.0), requests=[Served(0.0, 0.0, (1,))])
    assert WhyNot.NO_COSTLY_CLASS is cases_of(session)[Case.CLASS_LEFT_OUT].why_not


def test_fewer_images_lose_where_the_idle_power_dominates():
    """With 4 of 5 W idle half of the images lose more than they save; without it they tie."""
    session = fetching(took_s=np.zeros(60), sent_bytes=np.ones(60))
    assert WhyNot.NO_BASE is cases_of(session)[Case.FEWER_IMAGES].why_not
    mostly_idle = cases_of(session, 4.0)[Case.FEWER_IMAGES]
    assert pytest.approx(0.5 / 0.9 - 1, abs=0.02) == mostly_idle.gain
    assert pytest.approx(0.0, abs=0.02) == cases_of(session, 1e-9)[Case.FEWER_IMAGES].gain


def test_a_session_without_a_score_has_no_cases():
    """Nothing can be said of a session whose mAP is 0."""
    truth = truth_of(4)
    answers = [answered(truth, 1, 1.0, right=False)]
    session = played_of(truth, answers, [], Watts((0, 5), ended_s=9), 9.0)
    assert [] == what_if(session, where_it_went(session))
