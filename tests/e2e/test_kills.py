# SPDX-License-Identifier: Apache-2.0
"""A session whose referee is killed in every part, and loses its disk: a part of `bench kills`."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.bench.killing.hall import open_hall
from tests.bench.killing.plan import Kill, Moment, Target
from tests.bench.killing.session import Played, play
from tests.support.programs import PS

pytestmark = [pytest.mark.slow, pytest.mark.needs(PS)]

SECONDS = 6
# Other tests kill whole programs. These parts die here, and then everything at once.
PARTS = (Target.WORKER, Target.MASTER, Target.LINK)


def test_a_session_outlives_its_referee(tmp_path: Path) -> None:
    """No acknowledged answer is lost, and the bundle verifies, whatever was killed meanwhile.

    Where this user can mount no disk, the supervisor is killed in place of the power.
    """
    played = Played(0, SECONDS)
    with open_hall(tmp_path, SECONDS, 1, seed=5) as hall:
        last = Target.SUPERVISOR if hall.disk is None else Target.POWER
        kills = [Kill(one, Moment.RUN, 0.5 + 0.5 * k) for k, one in enumerate((*PARTS, last))]
        play(hall, "team0", kills, random.Random(5), played)
        assert [] == played.faults + hall.refused_starts
    assert (0.0, True) == (round(played.ended_s, 6), played.scored)
    assert played.acknowledged > 0
    assert len(kills) == len(played.kills)
