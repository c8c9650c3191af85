# SPDX-License-Identifier: Apache-2.0
"""An event of which the audience has seen one of three results."""

from __future__ import annotations

import pytest

from referee.service.event.finalizing import finalize
from referee.service.scoreboard.freezing import freeze
from referee.service.setup.config_file import load_config
from referee.service.setup.contest import open_contest
from tests.support.contests import make_contest
from tests.support.events import Event
from tests.support.fakes import FakeClock, FakeMeter, running_desk


@pytest.fixture
def event(tmp_path):
    """Return an event of eight images; 'ants' run before the freeze, the others after it.

    'bees' win, and allow a picture. The results are not final yet.
    """
    clock = FakeClock()
    made = make_contest(tmp_path, clock, images=8, mode="event", seconds=600)
    made.database.close()
    with made.config.path.open("a") as file:
        file.write('[ceremony]\npictures = ["bees", "ants"]\n')
    contest = open_contest(load_config(made.config.path), clock)
    meter = FakeMeter(clock)
    with running_desk(contest, meter) as desk:
        event = Event(contest, desk, meter)
        event.register("ants", "bees", "wasps")
        event.play("ants", found=4)
        freeze(contest, "Kim")
        event.play("bees", found=6)
        event.play("wasps", found=2)
        yield event
    contest.database.close()


@pytest.fixture
def final(event):
    """Return that event with final results."""
    finalize(event.contest, ["Ada", "Grace"])
    return event
