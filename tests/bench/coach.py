# SPDX-License-Identifier: Apache-2.0
"""How often the coach's interval holds the true best moment to log out, in 200 simulated clients.

The true best is that of the mean score of 60 contests of the client, and its gain is over the end.
`named` counts the sessions whose best moment is named as better than the end: where the end is the
true best, these are false alarms. The last lines are the time of a report, by that of a score.
"""

from __future__ import annotations

import time

import numpy as np

from referee.extras.coach.rules.best_moment import BestMoment, best_moment
from referee.extras.coach.rules.moments import scored_moments
from referee.extras.coach.rules.parts import where_it_went
from referee.extras.coach.rules.what_if import what_if
from referee.scoring import evaluate
from tests.support.coached import Client, clients, end_is_best, long_client

CONTESTS, EACH, ALARMS = 60, 25, 50
LONG = (1000, 10_000, 50_000)


def run() -> None:
    """Print a row for each kind of client, the sums, and how long a report takes."""
    print(f"{'client':20} {'true best':>10} {'gain':>8} {'held':>6} {'width':>8} {'named':>6}")
    held = sum(_row(name, client, EACH)[0] for name, client in clients().items())
    print(f"{held} of {EACH * len(clients())} intervals hold the true best moment")
    named = sum(_row(name, client, ALARMS)[1] for name, client in end_is_best().items())
    print(f"{named} of {ALARMS * len(end_is_best())} sessions named a moment where the end is best")
    for images in LONG:
        _time(images)


def _row(name: str, client: Client, sessions: int) -> tuple[int, int]:
    chance = np.random.default_rng(len(name))
    contests = [scored_moments(client.play(chance)) for _ in range(CONTESTS)]
    whole = [one.moments for one in contests if one is not None]
    mean = np.mean([[one.score for one in moments] for moments in whole], axis=0)
    at = int(mean.argmax())
    true_s = whole[0][at].at_s
    asked = [best for best in (best_moment(client.play(chance)) for _ in range(sessions)) if best]
    held = sum(best.low.at_s <= true_s <= best.high.at_s for best in asked)
    width_s = float(np.mean([_width_s(best) for best in asked]))
    named = sum(best.is_better for best in asked)
    gain = mean[at] / mean[-1] - 1
    print(f"{name:20} {true_s:8.1f} s {gain:8.1%} {held:6} {width_s:6.0f} s {named:6}", flush=True)
    return held, named


def _width_s(best: BestMoment) -> float:
    return best.high.at_s - best.low.at_s


def _time(images: int) -> None:
    """Print how long a whole report of a long session takes beside one score of it."""
    played = long_client(images).play(np.random.default_rng(0))
    began = time.process_time()
    evaluate(played.truth, played.detections)
    scored = time.process_time()
    what_if(played, where_it_went(played, 1.0))
    best_moment(played)
    report_s, score_s = time.process_time() - scored, scored - began
    print(
        f"{images:6} images: {report_s:.1f} s, {report_s / score_s:.0f} times a score", flush=True
    )
