# SPDX-License-Identifier: Apache-2.0
"""What the public sees follows from the stored facts and the freeze, and from nothing else."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from msgspec.structs import astuple

from referee.core.states import EndCause
from referee.errors import Refusal
from referee.service.event.finalizing import finalize, reopen
from referee.service.scoreboard.facts import read_facts
from referee.service.scoreboard.freezing import freeze, freeze_of, thaw
from referee.service.scoreboard.publisher import Publisher
from referee.service.scoreboard.view import publication_of, shown_view
from referee.service.setup.lane_config import LaneSection
from referee.service.teams.order import set_order
from referee.service.teams.registration_changes import amend, withdraw
from referee.store.database import Database
from referee.store.readings import newest_reading
from referee.store.requests import Request, insert_requests
from referee.store.session_clients import insert_session_clients
from tests.support.fakes import eventually


def view(event):
    """Return the view as the public has it now."""
    return json.loads(event.publisher.refresh().view)


def live(event):
    """Return the sessions that are on."""
    return json.loads(event.publisher.refresh().live)["sessions"]


def row(event, team):
    """Return a team's entry."""
    return next(entry for entry in view(event)["entries"] if entry["team"] == team)


def public_bytes(event):
    """Return every byte that a publisher has for the public, also a new one's."""
    found = [one.refresh() for one in (event.publisher, Publisher(event.contest))]
    assert found[0].view == found[1].view
    assert found[0].publication == found[1].publication
    moving = found[0].live + found[0].race
    return found[0].view, moving, found[0].publication.objects, found[0].key


def test_an_event_without_teams_has_a_view(event):
    """Before anything the results are provisional and empty."""
    found = view(event)
    assert ("PROVISIONAL", [], None) == (found["state"], found["entries"], found["next"])
    assert [] == live(event)


def test_a_score_of_0_is_a_result_and_no_result_is_a_dash(event):
    """A team that found nothing has rank, score and figures; one that has not run has words."""
    event.register("ants", "bees")
    event.play("ants", found=0)
    nothing, missing = row(event, "ants"), row(event, "bees")
    assert (1, 0.0, 0.0, "") == (
        *(nothing["rank"], nothing["score"], nothing["mean_ap"]),
        nothing["word"],
    )
    assert ("0", "0.00000") == (nothing["printed"]["score"], nothing["printed"]["mean_ap"])
    assert (None, None, "has not run yet") == (missing["rank"], missing["score"], missing["word"])
    assert ("–", "–") == (missing["printed"]["score"], missing["printed"]["mean_ap"])


def test_each_reason_for_no_rank_has_its_words(event):
    """On now, no result yet, no valid energy, runs again, withdrawn, models only."""
    event.register("ants", "bees", "wasps", "hornets")
    number = event.begin("ants")
    assert "on now" == row(event, "ants")["word"]
    event.contest.clock.advance(60)
    event.desk.steps_of(number).end(number, EndCause.STOP, "Kim")
    event.settle(number)
    event.judge(number, "INVALID")
    assert "no valid energy" == row(event, "ants")["word"]
    number = event.play("bees")
    event.desk.steps_of(number).void(number, "Kim", "wrong images")
    found = row(event, "bees")
    assert ("runs again", ["wrong images"], 1) == (
        *(found["word"], found["void_reasons"]),
        found["attempts"],
    )
    withdraw(event.contest, "wasps", "ill", "Kim")
    assert "withdrawn" == row(event, "wasps")["word"]
    amend(event.contest, "hornets", lambda old: replace(old, sessions=False), "OVIC", "Kim")
    assert "models only" == row(event, "hornets")["word"]


def test_the_newest_result_tells_who_has_moved(event):
    """A new leader pushes the others down; a second session counts from the place of the first."""
    event.register("ants", "bees", "wasps")
    event.play("ants", found=4)
    assert (True, None) == (row(event, "ants")["newest"], row(event, "ants")["moved"])
    event.play("bees", found=2)
    event.play("wasps", found=6)
    found = {
        one["team"]: (one["rank"], one["newest"], one["moved"]) for one in view(event)["entries"]
    }
    assert {"wasps": (1, True, None), "ants": (2, False, -1), "bees": (3, False, -1)} == found
    event.play("bees", found=8)
    found = {
        one["team"]: (one["rank"], one["newest"], one["moved"]) for one in view(event)["entries"]
    }
    assert {"bees": (1, True, 2), "wasps": (2, False, -1), "ants": (3, False, -1)} == found


def test_figures_from_afar_have_the_digits_of_their_interval(event):
    """Board and team's page have the same score: two digits of half the interval show."""
    event.register("ants")
    event.play("ants", found=4)
    found = row(event, "ants")
    assert found["short"]["score"] == f"~{found['score']:.1f}" == found["printed"]["score"]
    assert ("0.500", "0.100") == (found["short"]["mean_ap"], found["short"]["energy_wh"])


def test_a_void_clears_every_display_at_once(event):
    """The next snapshot has another version and key, no score, and the feed's objects are gone."""
    event.register("ants")
    number = event.play("ants")
    before = event.publisher.refresh()
    assert before is event.publisher.refresh()
    event.desk.steps_of(number).void(number, "Kim", "wrong images")
    after = event.publisher.refresh()
    assert after.version > before.version
    assert after.key != before.key
    assert row(event, "ants")["score"] is None
    gone = {
        (one.type, one.data is None) for one in after.publication.objects if one.id == str(number)
    }
    assert {("submissions", True), ("judgements", True)} <= gone
    event.play("ants", found=2)
    assert row(event, "ants")["score"] is not None


def test_a_running_session_shows_its_figures(event):
    """Time, power, accuracy and score so far; at first there is no score, which is not 0."""
    event.register("ants")
    number = event.begin("ants")
    (first,) = live(event)
    assert ("RUNNING", 600.0, None) == (first["state"], first["remaining_s"], first["mean_ap"])
    event.answer(number, [1, 2])
    event.score()
    event.contest.clock.advance(10)
    (found,) = live(event)
    assert (590.0, 0.25, "ants") == (found["remaining_s"], found["mean_ap"], found["team"])
    event.contest.clock.advance(60)
    event.desk.steps_of(number).end(number, EndCause.STOP, "Kim")
    event.settle(number)
    assert [] == live(event)


def test_figures_go_out_once_a_second_and_events_at_once(event):
    """Two hundred pages wake for news only; the clock on a page runs by itself meanwhile."""
    event.register("ants")
    number = event.begin("ants")
    told = event.publisher.refresh().live
    event.contest.clock.advance(0.9)
    assert told == event.publisher.refresh().live
    event.contest.clock.advance(0.1)
    assert 599.0 == live(event)[0]["remaining_s"]
    event.desk.steps_of(number).void(number, "Kim", "wrong images")
    assert [] == live(event)
    freeze(event.contest, "Kim")
    assert json.loads(event.publisher.refresh().live)["frozen"]


def test_a_running_session_does_not_change_the_view(event):
    """What grows is told beside the view, so that no chart is drawn again meanwhile."""
    event.register("ants")
    number = event.begin("ants")
    before = public_bytes(event)
    event.answer(number, [1, 2])
    fetched = Request(number, 1.0, "", "GET", "/image", 200, 1, 3, 0, 9, 0.1, "::1")
    with event.contest.database.write() as connection:
        insert_requests(connection, [fetched])
    event.score()
    event.contest.clock.advance(10)
    after = public_bytes(event)
    assert (before[0], before[2], before[3]) == (after[0], after[2], after[3])
    assert 3 == live(event)[0]["images_fetched"]


def test_old_readings_give_no_power_and_no_score(event):
    """While the meter is silent, answers would go on without the energy that they cost."""
    event.register("ants")
    number = event.begin("ants")
    event.answer(number, [1])
    event.score()
    eventually(lambda: newest_reading(event.contest.database.connection, number))
    event.meter.lost = True
    event.contest.clock.advance(30)
    (found,) = live(event)
    assert (True, None, None) == (found["old"], found["power_w"], found["score"])


def test_a_freeze_hides_everything_that_follows(event):
    """Sessions, voids, renames, a new publisher and time itself change no public byte."""
    event.register("ants", "bees", "wasps")
    number = event.play("ants")
    event.begin("wasps")
    freeze(event.contest, "Kim")
    before = public_bytes(event)
    assert "FROZEN" == json.loads(before[0])["state"]
    assert "on now" not in before[0]
    event.contest.clock.advance(30)
    assert before == public_bytes(event)
    event.desk.steps_of(2).end(2, EndCause.STOP, "Kim")
    event.settle(2)
    event.play("bees", found=8)
    event.desk.steps_of(number).void(number, "Kim", "wrong images")
    withdraw(event.contest, "wasps", "ill", "Kim")
    event.contest.clock.advance(3600)
    assert before == public_bytes(event)
    thaw(event.contest, "Kim")
    assert "PROVISIONAL" == view(event)["state"]
    assert row(event, "ants")["score"] is None
    assert 1 == row(event, "bees")["rank"]


def test_an_approval_is_not_told_before_the_thaw(event):
    """Results that are made final during a freeze stay frozen for the public."""
    event.register("ants")
    event.play("ants")
    freeze(event.contest, "Kim")
    before = public_bytes(event)
    finalize(event.contest, ["Ada"])
    assert before == public_bytes(event)
    thaw(event.contest, "Kim")
    found = view(event)
    assert ("FINAL", ["Ada"]) == (found["state"], found["approved_by"])
    assert found["prizes"]
    reopen(event.contest, "Ada", "a mistake")
    assert ("PROVISIONAL", []) == (view(event)["state"], view(event)["prizes"])


def test_a_teams_programs_are_told_with_the_final_results(event):
    """Before that, and after a reopening, rivals do not see with what a team runs."""
    event.register("ants", "bees")
    number, _ = event.play("ants"), event.play("bees")
    with event.contest.database.write() as connection:
        insert_session_clients(connection, [(number, "eye/1 (ONNX Runtime)", "then")])
    assert [] == row(event, "ants")["clients"]
    finalize(event.contest, ["Ada"])
    assert ["eye/1 (ONNX Runtime)"] == row(event, "ants")["clients"]
    assert [] == row(event, "bees")["clients"]
    reopen(event.contest, "Ada", "a mistake")
    assert b"eye/1" not in b"".join(map(_bytes, public_bytes(event)))


def _bytes(part):
    return part if isinstance(part, bytes) else repr(part).encode()


def test_freeze_and_thaw_are_on_record_and_idempotent(event):
    """The first press counts; a thaw without a freeze does nothing."""
    assert thaw(event.contest, "Kim") is None
    first = freeze(event.contest, "Kim")
    event.contest.clock.advance(5)
    assert first == freeze(event.contest, "Ada")
    assert "frozen" == freeze_of(event.contest).kind
    again = thaw(event.contest, "Ada")
    assert again == thaw(event.contest, "Kim")
    rows = event.contest.database.connection.execute("select operator, action from audit")
    acts = [tuple(row) for row in rows if "scoreboard" in row[1]]
    assert [("Kim", "freeze scoreboard"), ("Ada", "unfreeze scoreboard")] == acts


def test_a_freeze_needs_a_name_and_provisional_results(event):
    """Nobody freezes without a name, and final results have nothing to hide."""
    with pytest.raises(Refusal, match="name of a person"):
        freeze(event.contest, " ")
    event.register("ants")
    event.play("ants")
    finalize(event.contest, ["Ada"])
    with pytest.raises(Refusal, match="final"):
        freeze(event.contest, "Kim")


def test_the_view_has_no_time_of_its_own(event):
    """Without a change no byte changes, however late it is."""
    event.register("ants")
    event.play("ants")
    before = public_bytes(event)
    event.contest.clock.advance(7200)
    assert before == public_bytes(event)


def test_a_reader_cannot_write(event):
    """The scoreboard's database refuses every write."""
    reader = Database(event.contest.database.path, read_only=True)
    with pytest.raises(Exception, match="readonly"):
        reader.connection.execute("insert into freezes (kind, operator, utc) values ('x', 'y', '')")
    reader.close()


def test_the_public_reads_who_is_next_in_each_lane(event):
    """With several lanes the view has each lane's own next team; a freeze hides them."""
    event.register("ants", "bees", "wasps")
    names = ("left", "right")
    lanes = tuple(LaneSection(name, "127.0.0.1:0", event.contest.config.meter) for name in names)
    config = replace(event.contest.config, declared_lanes=lanes)
    contest = replace(event.contest, config=config)
    amend(contest, "ants", lambda old: replace(old, lane="right"), "needs 120 V", "Kim")
    set_order(contest, ["ants", "bees", "wasps"], "", "Kim")
    with contest.database.read() as connection:
        facts = read_facts(contest, connection)
    told = [astuple(lane) for lane in publication_of(facts).view.lanes]
    assert [(1, "left", "bees", "wasps"), (2, "right", "ants", None)] == told
    freeze(contest, "Kim")
    assert [] == json.loads(Publisher(contest).refresh().view)["lanes"]


def test_links_of_a_session_come_with_the_pages_behind_them(event):
    """The scoreboard has the coach's pages. A board of other machines' sessions has none."""
    event.register("ants")
    assert ["coach"] == [link["part"] for link in view(event)["session_links"]]
    assert [] == shown_view(event.publisher.refresh().publication.view).session_links
