# SPDX-License-Identifier: Apache-2.0
"""How often the coach's interval holds the true best moment to log out, in 200 simulated clients.

The true best is that of the mean score of 120 contests of the client. `named` counts the sessions
whose best moment is named as better than the end.
"""

from __future__ import annotations

import numpy as np

from referee.extras.coach.rules.best_moment import best_moment
from tests.support.coached import Client, clients

CONTESTS, EACH = 120, 25


def run() -> None:
    """Print a row for each kind of client, and the sum."""
    print(f"{'client':20} {'true best':>10} {'gain':>8} {'held':>6} {'width':>8} {'named':>6}")
    held = sum(_row(name, client) for name, client in clients().items())
    print(f"{held} of {EACH * len(clients())} intervals hold the true best moment")


def _row(name: str, client: Client) -> int:
    chance = np.random.default_rng(len(name))
    found = [best_moment(client.play(chance)) for _ in range(CONTESTS)]
    whole = [best for best in found if best is not None]
    mean = np.mean([[one.score for one in best.moments] for best in whole], axis=0)
    at = int(mean.argmax())
    true_s = whole[0].moments[at].at_s
    asked = [best for best in (best_moment(client.play(chance)) for _ in range(EACH)) if best]
    held = sum(best.low_s <= true_s <= best.high_s for best in asked)
    width_s = float(np.mean([best.high_s - best.low_s for best in asked]))
    named = sum(best.is_better for best in asked)
    gain = mean[at] / mean[-1] - 1
    print(f"{name:20} {true_s:8.1f} s {gain:8.1%} {held:6} {width_s:6.0f} s {named:6}", flush=True)
    return held
