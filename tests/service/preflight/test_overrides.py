# SPDX-License-Identifier: Apache-2.0
"""An override holds for one finding as it was seen, on one day, and stays on record."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from referee.errors import Refusal
from referee.service.preflight.finding import Level, fail, ok, warn
from referee.service.preflight.listing import require_none_standing, shown_list, standing
from referee.service.preflight.overrides import (
    day_of,
    holds,
    make_override,
    overrides_of_today,
    take_back,
)
from tests.support.shown import as_json

BAD = fail("machine", "disk", "1.0 GiB free", "Make room.")
SEEN = (Level.FAIL, BAD.text)
KNOWN = warn("meter", "calibration", "not recorded", "Set [meter] calibrated.")


@pytest.fixture
def overridden(contest):
    """Return a contest in which Kim has overridden the finding."""
    make_override(contest.database, contest.clock.now(), BAD, SEEN, "short event", "Kim")
    return contest


def now_of(contest):
    """Return today's overrides and the present instant."""
    return overrides_of_today(contest.database, contest.clock), contest.clock.now()


def test_a_fail_forbids_arming_until_somebody_overrides_it(contest):
    """The refusal has text and remedy; with the override there is none."""
    with pytest.raises(Refusal, match=r"machine, disk: 1\.0 GiB free\. Make room\.") as caught:
        require_none_standing([BAD], *now_of(contest), 1)
    assert "not_ready" == caught.value.code
    make_override(contest.database, contest.clock.now(), BAD, SEEN, "short event", "Kim")
    require_none_standing([BAD], *now_of(contest), 1)
    shown = as_json(shown_list([BAD], *now_of(contest)))
    assert shown["ready"]
    by = shown["findings"][0]["override"]
    assert ("Kim", "short event") == (by["operator"], by["reason"])


def test_another_text_needs_another_override(overridden):
    """A disk with less room is another finding."""
    worse = replace(BAD, text="0.9 GiB free")
    assert [worse] == standing([BAD, worse], *now_of(overridden))


def test_an_override_lapses_at_midnight(overridden):
    """Whoever overrides a finding today has not looked at tomorrow's."""
    overrides, now = now_of(overridden)
    tomorrow = day_of(now.utc + timedelta(days=1))
    assert holds(overrides[0], BAD, day_of(now.utc))
    assert not holds(overrides[0], BAD, tomorrow)
    overridden.clock.advance(86400)
    assert [] == overrides_of_today(overridden.database, overridden.clock)


def test_a_fault_of_one_lane_leaves_the_other_free(contest):
    """A lane's finding forbids arming in this lane alone, but the event is not ready."""
    lanes_own = replace(BAD, lane=2)
    require_none_standing([lanes_own], *now_of(contest), 1)
    with pytest.raises(Refusal):
        require_none_standing([lanes_own], *now_of(contest), 2)
    assert not as_json(shown_list([lanes_own], *now_of(contest)))["ready"]


def test_an_override_needs_a_reason_and_a_fail_as_it_was_seen(contest):
    """Nothing is stored without a reason, for another level, for nothing, or for another text."""
    for finding, seen, reason, code in [
        (BAD, SEEN, "  ", "reason_missing"),
        (None, SEEN, "why", "nothing_to_override"),
        (ok("machine", "disk", BAD.text), SEEN, "why", "nothing_to_override"),
        (warn("machine", "disk", BAD.text, "x"), SEEN, "why", "finding_moved"),
        (BAD, (Level.WARN, BAD.text), "why", "finding_moved"),
        (BAD, (Level.FAIL, "2.0 GiB free"), "why", "finding_moved"),
    ]:
        with pytest.raises(Refusal) as caught:
            make_override(contest.database, contest.clock.now(), finding, seen, reason, "Kim")
        assert code == caught.value.code
    assert [] == overrides_of_today(contest.database, contest.clock)


def test_a_known_warning_is_acknowledged(contest):
    """It stays in the list with name and reason, for this text and this day, and on record."""
    now = contest.clock.now()
    make_override(contest.database, now, KNOWN, (Level.WARN, KNOWN.text), "borrowed", "Kim")
    overrides, _ = now_of(contest)
    (row,) = as_json(shown_list([KNOWN], overrides, now))["findings"]
    assert ("WARN", "Kim", "borrowed") == (
        row["level"],
        row["override"]["operator"],
        row["override"]["reason"],
    )
    today, tomorrow = day_of(now.utc), day_of(now.utc + timedelta(days=1))
    assert [True, False, False] == [
        holds(overrides[0], KNOWN, today),
        holds(overrides[0], KNOWN, tomorrow),
        holds(overrides[0], replace(KNOWN, text="2020-01-31: longer ago"), today),
    ]
    take_back(contest.database, now, overrides[0].override_id, "calibrated", "Lee")
    rows = contest.database.connection.execute("select operator, action from audit")
    assert [("Kim", "acknowledge check"), ("Lee", "take back override")] == [*map(tuple, rows)]


def test_who_acknowledged_a_warning_let_no_fail_pass(contest):
    """A finding that grows worse without another word needs an override of its own."""
    now = contest.clock.now()
    make_override(contest.database, now, KNOWN, (Level.WARN, KNOWN.text), "borrowed", "Kim")
    worse = replace(KNOWN, level=Level.FAIL)
    assert [worse] == standing([worse], *now_of(contest))


def test_both_actions_can_be_pressed_twice(overridden):
    """A second override and a second taking back change nothing; both acts are on record once."""
    now = overridden.clock.now()
    make_override(overridden.database, now, BAD, SEEN, "again", "Lee")
    (override,) = overrides_of_today(overridden.database, overridden.clock)
    for _ in range(2):
        take_back(overridden.database, now, override.override_id, "room made", "Lee")
    assert [] == overrides_of_today(overridden.database, overridden.clock)
    rows = overridden.database.connection.execute("select operator, action, detail from audit")
    told = [tuple(row) for row in rows]
    assert [("Kim", "override check"), ("Lee", "take back override")] == [it[:2] for it in told]
    assert "1.0 GiB free" in told[0][2] and "short event" in told[0][2]


def test_an_unknown_override_is_taken_back_by_nobody(contest):
    """A number that does not exist changes nothing."""
    take_back(contest.database, contest.clock.now(), 99, "why", "Kim")
    rows = contest.database.connection.execute("select * from audit").fetchall()
    assert [] == rows
