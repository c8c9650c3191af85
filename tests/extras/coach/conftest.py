# SPDX-License-Identifier: Apache-2.0
"""A rehearsal with two whole sessions on an emulated meter, and their bundles."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.service.evidence.bundle import write_bundle
from tests.support.contests import make_contest
from tests.support.fakes import FakeClock
from tests.support.played_sessions import SECONDS, play


@pytest.fixture(scope="session")
def rehearsal(tmp_path_factory) -> Path:
    """Return the folder of a rehearsal whose first session ran to its end; `1.zip` is its bundle.

    The team of the second one logged out after 12 of 20 s.
    """
    folder = tmp_path_factory.mktemp("rehearsal")
    contest = make_contest(folder, FakeClock(), mode="practice", seconds=SECONDS)
    write_bundle(contest, play(contest), folder / "1.zip")
    play(contest, seconds=12)
    contest.database.close()
    return folder
