# SPDX-License-Identifier: Apache-2.0
"""A contest is opened with its keys and its images; its rules come when somebody asks for them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from referee.errors import ConfigError
from referee.service.setup.contest import open_contest
from tests.support.contests import make_contest


def test_keys_are_made_with_the_contest(tmp_path, clock):
    """A reopened contest has the same keys, so tokens survive a restart."""
    first = make_contest(tmp_path, clock)
    first.database.close()
    second = open_contest(first.config, clock)
    second.database.close()
    assert first.secrets == second.secrets


def test_a_contest_opens_without_its_rules(contest):
    """Who asks for teams or notices needs no track; who asks for a track that is none is told."""
    settings = replace(contest.config.contest, track="chess")
    opened = open_contest(replace(contest.config, contest=settings), contest.clock)
    try:
        assert 4 == opened.image_count
        with pytest.raises(ConfigError, match="'chess': there is no such track"):
            _ = opened.track
    finally:
        opened.database.close()


def test_the_rules_are_found_once(contest):
    """A contest asks for its track once, and keeps it and the ids of its classes."""
    asked = []
    counted = replace(contest, find_track=lambda: asked.append(1) or contest.track)
    assert counted.track is counted.track is contest.track
    assert [1] == asked
    assert counted.class_ids is counted.class_ids
    assert [1, 2] == counted.class_ids.tolist()
