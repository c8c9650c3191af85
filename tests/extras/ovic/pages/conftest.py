# SPDX-License-Identifier: Apache-2.0
"""A contest server that takes models."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.contests import make_contest
from tests.support.fakes import FakeClock
from tests.support.ovic_contests import make_ovic_contest
from tests.web.conftest import Site, serving


@pytest.fixture
def ovic_site(tmp_path: Path) -> Iterator[Site]:
    """Return a rehearsal that takes two classifiers a day of 1 MB at most."""
    contest = make_ovic_contest(tmp_path, FakeClock(), entries_a_day=2, model_mb=1)
    with serving(contest) as site:
        yield site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """Return a rehearsal that takes no models."""
    with serving(make_contest(tmp_path, FakeClock(), mode="practice", seconds=600)) as site:
        yield site
