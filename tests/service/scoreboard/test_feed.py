# SPDX-License-Identifier: Apache-2.0
"""The feed: any prefix and its token give the whole, without a gap or a duplicate."""

from __future__ import annotations

import json
import random
import sqlite3
from dataclasses import replace
from types import SimpleNamespace

import pytest

from referee.errors import Refusal
from referee.service.event.finalizing import finalize
from referee.service.scoreboard.feed import START, lines_after, place_of
from referee.service.scoreboard.freezing import freeze, thaw
from referee.service.scoreboard.publisher import Publisher
from referee.service.teams.registration_changes import rename, withdraw
from referee.store.chain import register_functions


def lines(event, token=None):
    """Return the feed's objects after a token, as a new process gives them."""
    snapshot = Publisher(event.contest).refresh()
    place = START if token is None else place_of(snapshot, token)
    return [json.loads(line) for line in lines_after(snapshot, place)[0]]


def state_of(found):
    """Return what a program holds after these notifications."""
    held = {}
    for one in found:
        held[one["type"], one["id"]] = one["data"]
    return held


def steps(event):
    """Let an event go on, one public change after the other."""
    event.register("ants", organisation="ETH")
    yield
    first = event.play("ants")
    yield
    event.register("bees")
    yield
    rename(event.contest, "bees", "wasps", "Kim")
    yield
    event.desk.steps_of(first).void(first, "Kim", "wrong images")
    yield
    freeze(event.contest, "Kim")
    yield
    event.play("ants", found=8)
    yield
    event.play("wasps", found=0)
    yield
    thaw(event.contest, "Kim")
    yield
    finalize(event.contest, ["Ada"])
    yield


def test_a_reader_at_any_place_gets_the_rest_once(event):
    """Each prefix of each moment, continued from its token, ends as the whole does."""
    chance = random.Random(7)
    heard = []
    for _ in steps(event):
        now = lines(event)
        tokens = [one["token"] for one in now]
        assert len(set(tokens)) == len(tokens)
        for cut in {0, len(now) - 1, chance.randrange(len(now))}:
            assert now[cut + 1 :] == lines(event, tokens[cut])
        # A reader that was there all the time, and remembers only its last token.
        new = lines(event, heard[-1]["token"] if heard else None)
        heard += new
        whole = {key: data for key, data in state_of(now).items() if data is not None}
        assert whole == {key: data for key, data in state_of(heard).items() if data is not None}
    tokens = [one["token"] for one in heard]
    assert len(set(tokens)) == len(tokens)
    numbers = [tuple(map(int, token.split(".")[:2])) for token in tokens]
    assert sorted(numbers) == numbers


def test_a_freeze_keeps_the_feed_silent(event):
    """Nothing comes until the thaw; then the hidden results come, each once."""
    event.register("ants")
    freeze(event.contest, "Kim")
    last = lines(event)[-1]
    assert ("state", True) == (last["type"], last["data"]["frozen"] is not None)
    number = event.play("ants")
    assert [] == lines(event, last["token"])
    assert last == lines(event)[-1]
    thaw(event.contest, "Kim")
    found = lines(event, last["token"])
    kinds = ["submissions", "contest", "judgements", "state"]
    assert kinds == [one["type"] for one in found]
    assert [str(number), None, str(number), None] == [one["id"] for one in found]
    assert found[-1]["data"]["frozen"] is None


def test_a_removed_object_has_no_data(event):
    """A void session leaves with null, at a new token."""
    event.register("ants")
    number = event.play("ants")
    token = lines(event)[-1]["token"]
    event.desk.steps_of(number).void(number, "Kim", "wrong images")
    assert [("submissions", None), ("judgements", None)] == [
        (one["type"], one["data"]) for one in lines(event, token) if one["type"] != "contest"
    ]


@pytest.mark.parametrize("token", ["", "1", "1.0.zzzzzzzz", "999.0.00000000", "1.0.00000000", "0"])
def test_a_token_that_was_never_given_is_refused(event, token):
    """Another database's token starts no stream."""
    with pytest.raises(Refusal, match="Start again"):
        lines(event, token)


def test_a_restored_database_knows_its_own_tokens_only(event, tmp_path):
    """A token of before the copy stays good; one of after it is refused."""
    event.register("ants")
    before = lines(event)[-1]["token"]
    copy = sqlite3.connect(tmp_path / "copy.db")
    register_functions(copy)
    event.contest.database.connection.backup(copy)
    event.register("bees")
    after = lines(event)[-1]["token"]
    copy.execute("insert into teams (name, created_utc) values ('wasps', '')")
    copy.commit()
    nonces = dict(copy.execute("select change_id, nonce from public_changes"))
    copy.close()
    restored = SimpleNamespace(nonces=nonces)
    assert START < place_of(restored, before)
    with pytest.raises(Refusal, match="restored"):
        place_of(restored, after)


def test_a_final_event_ends_its_updates(event):
    """The state tells the end, and the prizes are awards."""
    event.register("ants")
    event.play("ants")
    finalize(event.contest, ["Ada"])
    held = state_of(lines(event))
    assert held["state", None]["end_of_updates"] == held["state", None]["finalized"] is not None
    assert ["1"] == held["awards", "highest-score"]["team_ids"]
    assert "0:10:00.000" == held["contest", None]["session_length"]


def with_seconds(event, seconds):
    """Let the sessions from now on have another length, as a restart with another file does."""
    config = event.contest.config
    contest = replace(config.contest, seconds=seconds)
    object.__setattr__(event.contest, "config", replace(config, contest=contest))


def marks(held):
    """Return by session what a program knows of its mark."""
    return {
        own: [one["condition"] for one in data["differs"]]
        for (kind, own), data in held.items()
        if kind == "judgements" and data is not None
    }


def test_a_mark_that_changes_is_an_update(event):
    """A judgement comes again where other sessions change its mark, to a reader who goes on."""
    event.register("ants", "bees", "crabs")
    found, seen = [], []
    for seconds, team in ((300, "ants"), (600, "bees"), (600, "crabs")):
        with_seconds(event, seconds)
        event.play(team)
        found += lines(event, found[-1]["token"] if found else None)
        seen.append(marks(state_of(found)))
    assert [{"1": []}, {"1": [], "2": ["length_s"]}] == seen[:2]
    assert {"1": ["length_s"], "2": [], "3": []} == seen[2]
    withdraw(event.contest, "ants", "ill", "Kim")
    found += lines(event, found[-1]["token"])
    assert {"1": [], "2": [], "3": []} == marks(state_of(found))
    assert marks(state_of(lines(event))) == marks(state_of(found))
    places = [tuple(map(int, one["token"].split(".")[:2])) for one in lines(event)]
    assert sorted(set(places)) == places


def test_where_all_are_alike_a_judgement_comes_once(event):
    """Another result sends no judgement again."""
    event.register("ants", "bees")
    event.play("ants")
    token = lines(event)[-1]["token"]
    event.play("bees")
    assert ["2"] == [one["id"] for one in lines(event, token) if one["type"] == "judgements"]
    (data,) = [one["data"] for one in lines(event, token) if one["type"] == "judgements"]
    assert (600.0, []) == (data["conditions"]["length_s"], data["differs"])
