# SPDX-License-Identifier: Apache-2.0
"""Results are final when nothing is open, by name, and then nothing moves them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from referee.errors import Refusal
from referee.service.event.finalizing import finalize, reopen, review
from referee.service.event.results import read_results
from referee.service.event.results_table import results_json
from referee.service.teams.registration import add_team
from referee.service.teams.registration_changes import rename, withdraw
from referee.store.teams import Registration


def played(event):
    """Let two teams play, and return their sessions."""
    event.register("ants", "bees")
    return event.play("ants", found=4), event.play("bees", found=2)


def open_codes(event):
    """Return what a refused approval names as open."""
    with pytest.raises(Refusal) as refused:
        finalize(event.contest, ["Ada"])
    assert "results_open" == refused.value.code
    assert not read_results(event.contest).final
    return list(refused.value.faults)


def test_approved_results_are_final(event):
    """The results are those of before, with who approved them; a repeat changes nothing."""
    played(event)
    before = read_results(event.contest)
    finalize(event.contest, ["Ada", " Grace  H."])
    final = read_results(event.contest)
    assert (True, ["Ada", "Grace H."], []) == (
        *(final.final, final.approved_by),
        final.open,
    )
    assert before.entries == final.entries
    event.contest.clock.advance(60)
    finalize(event.contest, ["Somebody else"])
    assert json.dumps(results_json(final)) == json.dumps(results_json(read_results(event.contest)))


def test_a_team_that_has_not_run_keeps_the_results_open(event):
    """The team runs or withdraws first."""
    played(event)
    event.register("wasps")
    assert ["'wasps' has no session that counts. Let it run, or withdraw it."] == open_codes(event)
    withdraw(event.contest, "wasps", "did not come", "Kim")
    assert finalize(event.contest, ["Ada"]).entries


def test_a_team_with_models_only_needs_no_session(event):
    """It stands in the results without a rank and keeps nothing open."""
    played(event)
    add_team(event.contest, "wasps", Registration(sessions=False), "Kim")
    final = finalize(event.contest, ["Ada"])
    assert ["models only"] == [it.turn for it in final.entries if it.rank is None]


def test_a_session_ahead_or_on_keeps_the_results_open(event):
    """READY, ARMED and RUNNING sessions are named."""
    played(event)
    event.register("wasps")
    number = event.desk.new_session("wasps", "Kim")
    assert f"Session {number} of 'wasps' is READY. Let it end, or void it." in open_codes(event)
    event.desk.steps_of(number).arm(number, "Kim")
    assert any("is ARMED" in point for point in open_codes(event))
    event.desk.begin("wasps", "10.0.0.2")
    assert any("is RUNNING" in point for point in open_codes(event))


def test_an_unscored_session_keeps_the_results_open(event):
    """An answer in time that no scoring run has used is open until it is scored."""
    first, _ = played(event)
    event.answer(first, [7])
    (point,) = open_codes(event)
    assert f"Session {first} of 'ants' is not scored yet" in point
    event.score()
    finalize(event.contest, ["Ada"])


@pytest.mark.parametrize("verdict", ["SUSPECT", "INVALID"])
def test_a_doubtful_energy_needs_a_review(event, verdict):
    """Somebody lets it stand by name and reason; another judgement needs another review."""
    first, _ = played(event)
    energy_wh = None if verdict == "INVALID" else 0.1
    event.judge(first, verdict, energy_wh)
    (point,) = open_codes(event)
    assert f"is {verdict}, and nobody has reviewed it" in point
    for _ in range(2):
        review(event.contest, first, "Ada", "the gap lies before the load")
    entry = {one.team: one for one in read_results(event.contest).entries}["ants"]
    assert ("Ada", verdict) == (entry.review.operator, entry.verdict)
    event.judge(first, verdict, energy_wh)
    assert 1 == len(open_codes(event))
    review(event.contest, first, "Ada", "again")
    finalize(event.contest, ["Ada"])


@pytest.mark.parametrize("resource", ["emulated", "TCPIP::127.0.0.1,4000::inst0::INSTR"])
def test_an_emulated_energy_needs_a_review_unless_all_is_a_trial(event, resource):
    """A VALID energy of an emulator stays open, but not where every lane is declared emulated."""
    first, second = played(event)
    event.judge(first, "VALID", emulated=True)
    if resource == "emulated":
        event.judge(second, "VALID", emulated=True)
    meter = replace(event.contest.config.meter, resource=resource)
    contest = replace(event.contest, config=replace(event.contest.config, meter=meter))
    if resource != "emulated":
        (point,) = read_results(contest).open
        assert "is EMULATED, and nobody has reviewed it" in point
        assert "tunnel or a bridge" in point
        entry = {one.team: one for one in read_results(contest).entries}["ants"]
        assert ("VALID", "EMULATED") == (entry.verdict, entry.review_open)
        review(contest, first, "Ada", "a tunnel to the meter on the table")
    else:
        with pytest.raises(Refusal, match="VALID"):
            review(contest, first, "Ada", "it is a trial")
    entries = {one.team: one for one in finalize(contest, ["Ada"]).entries}
    assert (True, "") == (entries["ants"].emulated, entries["ants"].review_open)


def test_a_review_has_its_bounds(event):
    """There is nothing to review in a VALID energy, a running session, or without a reason."""
    first, _ = played(event)
    with pytest.raises(Refusal, match="is VALID"):
        review(event.contest, first, "Ada", "why not")
    event.judge(first, "SUSPECT")
    with pytest.raises(Refusal, match="needs a reason"):
        review(event.contest, first, "Ada", " ")
    with pytest.raises(Refusal, match="needs the name"):
        review(event.contest, first, " ", "why not")
    number = event.begin("ants")
    with pytest.raises(Refusal, match="is RUNNING and has no energy"):
        review(event.contest, number, "Ada", "why not")
    with pytest.raises(Refusal, match="no session 99"):
        review(event.contest, 99, "Ada", "why not")


@pytest.mark.parametrize("names", [[], [""], ["Ada", "  "], ["a\nb"]])
def test_an_approval_needs_names(event, names):
    """Nobody approves anonymously."""
    played(event)
    with pytest.raises(Refusal, match="name of a person"):
        finalize(event.contest, names)


def test_nothing_moves_final_results(event):
    """No session is made or voided, and no team changes, until the results are opened again."""
    first, _ = played(event)
    finalize(event.contest, ["Ada"])
    before = json.dumps(results_json(read_results(event.contest)))
    for action in (
        lambda: event.desk.new_session("ants", "Kim"),
        lambda: event.desk.steps_of(first).void(first, "Kim", "a reason"),
        lambda: withdraw(event.contest, "ants", "a reason", "Kim"),
        lambda: rename(event.contest, "ants", "wasps", "Kim"),
        lambda: add_team(event.contest, "wasps", Registration(), "Kim"),
        lambda: review(event.contest, first, "Ada", "a reason"),
    ):
        with pytest.raises(Refusal, match="The results are final"):
            action()
    event.judge(first, "VALID", 0.5)
    assert before == json.dumps(results_json(read_results(event.contest)))


def test_final_results_can_be_opened_again(event):
    """A mistake that is found later is corrected on record: opened, changed, approved again."""
    first, _ = played(event)
    finalize(event.contest, ["Ada"])
    with pytest.raises(Refusal, match="needs a reason"):
        reopen(event.contest, "Ada", "")
    for _ in range(2):
        reopen(event.contest, "Ada", "second supply found")
    assert not read_results(event.contest).final
    event.desk.steps_of(first).void(first, "Kim", "second supply found")
    withdraw(event.contest, "ants", "second supply found", "Kim")
    entries = finalize(event.contest, ["Ada", "Grace"]).entries
    assert ["bees", "ants"] == [entry.team for entry in entries]
    rows = event.contest.database.connection.execute(
        "select operator, action from audit where action in ('finalize', 'reopen results')"
    )
    assert [("Ada", "finalize"), ("Ada", "reopen results"), ("Ada", "finalize")] == [
        tuple(row) for row in rows
    ]


def test_a_rehearsal_is_never_final(practice):
    """A rehearsal has no results to approve."""
    with pytest.raises(Refusal, match="no final results"):
        finalize(practice, ["Ada"])
