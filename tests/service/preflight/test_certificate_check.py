# SPDX-License-Identifier: Apache-2.0
"""The list of checks tells whether the teams' clients will take the certificate."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from referee.service.preflight.event_rules import certificate_findings
from referee.service.preflight.finding import Level
from referee.service.preflight.surroundings import LaneFacts
from referee.service.setup.lane_config import MeterSection
from tests.support.certificates import DAY, self_signed

NOW = datetime.now(UTC)


def found(tmp_path, files, *urls):
    """Return the findings for a lane with these URLs."""
    config = SimpleNamespace(
        option=f"--config {tmp_path / 'contest.toml'}", server=SimpleNamespace(contest_tls=files)
    )
    lane = LaneFacts(1, MeterSection(), urls=urls)
    return list(certificate_findings(config, [lane], NOW))


def test_without_tls_there_is_nothing_to_say(tmp_path):
    """Plain HTTP is the default, and no fault."""
    assert [] == found(tmp_path, None, "http://10.0.0.1:8000")


@pytest.mark.parametrize(
    ("ends", "url", "level", "words"),
    [
        (30, "https://127.0.0.1:8000", Level.OK, "127.0.0.1"),
        (6, "https://127.0.0.1:8000", Level.WARN, "expires on"),
        (30, "https://10.0.0.1:8000", Level.WARN, "does not name https://10.0.0.1:8000"),
    ],
)
def test_levels(tmp_path, ends, url, level, words):
    """A name that is missing and an end that is near are warnings, with the command that helps."""
    (finding,) = found(tmp_path, self_signed(tmp_path, NOW, ends=ends * DAY), url)
    assert level is finding.level
    assert words in finding.text
    assert (level is Level.OK) != ("referee certificate" in finding.remedy)


def test_files_that_cannot_serve_forbid_arming(tmp_path):
    """The server would not start again with them."""
    files = replace(self_signed(tmp_path, NOW), key=tmp_path / "gone")
    (finding,) = found(tmp_path, files)
    assert Level.FAIL is finding.level
    assert "gone cannot be read" in finding.text
