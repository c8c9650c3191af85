# SPDX-License-Identifier: Apache-2.0
"""How long after its START the desk's own STOP has ended an integration."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from power.meter import IntegrationStart, IntegrationStop
from referee.core.instant import Instant
from referee.service.desk.settling import stopped_s

NOON = datetime(2026, 6, 7, 12, tzinfo=UTC)
STARTED = Instant(100.0, NOON, "boot")
NOW = Instant(120.0, NOON, "boot")
STOP = IntegrationStop(108.0, 108.004)


@pytest.mark.parametrize(
    ("start", "least_s", "most_s"),
    [
        (IntegrationStart(99.998, 100.0, 100.2), 8.0, 8.006),
        (None, 8.0, 8.014),  # an earlier desk has sent it
        (IntegrationStart(50.0, 50.1, 50.3), 8.0, 8.014),  # that of another session
    ],
)
def test_start_and_stop_bound_the_integration(start, least_s, most_s):
    """Each was carried out between its sending and what the meter said next."""
    assert (least_s, most_s) == pytest.approx(stopped_s(STARTED, NOW, start, STOP))


def test_without_a_stop_of_this_boot_nothing_is_known():
    """A timer, a key or another boot's desk has ended it."""
    assert stopped_s(STARTED, NOW, None, None) is None
    assert stopped_s(None, NOW, None, STOP) is None
    assert stopped_s(STARTED, Instant(5.0, NOON, "next"), None, STOP) is None
