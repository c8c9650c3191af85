# SPDX-License-Identifier: Apache-2.0
"""What a control desk puts on record when it takes over the sessions of an earlier one."""

from __future__ import annotations

import logging

from referee.core.actors import REFEREE
from referee.core.states import state_of
from referee.errors import Unavailable
from referee.service.desk.lane import Lane
from referee.service.setup.contest import Contest
from referee.store.notices import insert_audit

_log = logging.getLogger(__name__)


def record_recovery(contest: Contest, lane: Lane) -> None:
    """Put into the audit that this desk takes over a live session of an earlier desk, if any."""
    live = lane.live()
    if live is None:
        return
    state = state_of(live.facts, contest.clock.now())
    detail = f"the desk started anew and found the session {state.value}"
    try:
        with contest.database.write() as connection:
            now = contest.clock.now()
            insert_audit(connection, now, REFEREE, "recover", live.session_id, detail)
    except Unavailable:
        _log.exception("the recovery of session %d is not in the audit", live.session_id)
