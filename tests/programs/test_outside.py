# SPDX-License-Identifier: Apache-2.0
"""What tells the date beside the clock is read where it is written."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from referee.programs.outside import dates_of
from referee.store.notices import insert_audit
from tests.support.contests import make_contest

LONG_AGO = datetime(2025, 3, 4, tzinfo=UTC)


def test_files_records_and_time_servers_tell_the_date(tmp_path):
    """The key of the event keeps its date, each day has a record, and the newest server counts."""
    contest = make_contest(tmp_path)
    clock, older = tmp_path / "var/lib/systemd/timesync/clock", tmp_path / "var/lib/ntp/drift"
    for path, at in ((clock, LONG_AGO.timestamp()), (older, 1000), (_key(contest), 2000)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        os.utime(path, (at, at))
    with contest.database.write() as connection:
        insert_audit(connection, contest.clock.now(), "Kim", "arm", None)
    facts = dates_of(contest, tmp_path)
    assert facts.set_by_network.made == LONG_AGO
    told = {one.what: one.made for one in facts.event}
    assert datetime.fromtimestamp(2000, UTC) == told["the file signing.key"]
    assert contest.clock.now().utc.date() == told["a record of the event"].date()
    contest.database.close()


def test_a_laptop_without_time_servers_has_no_such_witness(tmp_path):
    """Nothing is made up in its place."""
    contest = make_contest(tmp_path)
    assert dates_of(contest, tmp_path / "nowhere").set_by_network is None
    contest.database.close()


def _key(contest):
    return contest.config.storage.folder / "signing.key"
