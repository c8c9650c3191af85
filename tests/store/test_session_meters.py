# SPDX-License-Identifier: Apache-2.0
"""A session's meter is stored beside it, as the meter described itself."""

from __future__ import annotations

import pytest

from power.meter import Identity, InputMode, MeterSettings
from referee.store.readings import SessionMeter, insert_session_meter, session_meter_of
from tests.store.conftest import new_session

SETTINGS = MeterSettings(600, 0.25, InputMode.DC, 15.0, None, 6, True, False)


@pytest.mark.parametrize("identity", [None, Identity("YOKOGAWA", "WT310E", "C2QJ1V", "F1.04")])
def test_a_session_meter_comes_back_as_it_was_stored(database, identity):
    """Identity, every setting, and whether it was emulated are kept."""
    session_id = new_session(database)
    meter = SessionMeter(True, identity, SETTINGS)
    with database.write() as connection:
        insert_session_meter(connection, session_id, "", meter)
    assert meter == session_meter_of(database.connection, session_id)


def test_a_session_without_a_meter_has_none(database):
    """A session without a meter has no row."""
    assert session_meter_of(database.connection, new_session(database)) is None
