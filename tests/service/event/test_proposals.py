# SPDX-License-Identifier: Apache-2.0
"""New scores are proposed, and count only after the proposal is applied whole."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from referee import __version__
from referee.errors import InputError, Refusal
from referee.service.event.columns import printed_entries
from referee.service.event.finalizing import finalize
from referee.service.event.proposal_view import all_proposals, proposal_text
from referee.service.event.proposals import apply_proposal, cancel_proposal
from referee.service.event.rescoring import Filter, _same_energy, make_proposal
from referee.service.event.results import read_results
from referee.service.event.results_table import results_json
from referee.service.results.session_energy import judge_again
from referee.store.readings import energy_of
from referee.store.scores import newest_scoring_run
from referee.store.sessions import load_session
from tests.support.shown import as_json


def public(event):
    """Return what everybody sees, without its time."""
    return json.dumps(
        {**results_json(read_results(event.contest)), "utc": "", "open": [], "points": []}
    )


def blacklist(event, *images):
    """Write a blacklist of class 1 in these images, and return its path."""
    path = event.contest.config.path.parent / "blacklist.csv"
    path.write_text("".join(f"{image},1\n" for image in images))
    return path


def propose(event, **chosen):
    """Make a proposal and return it as JSON."""
    number = make_proposal(event.contest, Filter(**chosen), "Ada", "new blacklist")
    return next(one for one in as_json(all_proposals(event.contest)) if one["proposal"] == number)


@pytest.fixture
def played(event):
    """Return an event in which 'ants' found the boxes 1 to 4, and 'bees' 1 to 6 for more energy."""
    event.register("ants", "bees")
    event.play("ants", found=4, power_w=6.0)
    event.play("bees", found=6, power_w=12.0)
    return event


def test_a_proposal_shows_old_and_new_and_changes_nothing(played):
    """The table has old and new figures and ranks, and every public figure stays."""
    before = public(played)
    shown = propose(played, blacklist=blacklist(played, 5, 6, 7))
    assert before == public(played)
    ants, bees = shown["scores"]
    assert ("open", 0.5, 0.75) == (shown["state"], ants["old"]["mean_ap"], bees["old"]["mean_ap"])
    assert (4 / 5, 4 / 5) == (ants["new"]["mean_ap"], bees["new"]["mean_ap"])
    assert (1, 1, 2, 2) == (
        *(ants["old"]["rank"], ants["new"]["rank"]),
        *(bees["old"]["rank"], bees["new"]["rank"]),
    )
    assert ants["changed"] and ants["old"]["energy_wh"] == ants["new"]["energy_wh"]
    assert "session 2, bees" in proposal_text(all_proposals(played.contest)[0])


def test_an_applied_proposal_counts_whole(played):
    """Scores and ranks are those that the proposal showed; a repeat changes nothing."""
    shown = propose(played, blacklist=blacklist(played, 1, 2))
    ants, bees = shown["scores"]
    for _ in range(2):
        apply_proposal(played.contest, shown["proposal"], "Ada", "agreed")
    results = read_results(played.contest)
    entries = {one.team: one for one in results.entries}
    cells = {row["team"]: row for row in printed_entries(results.entries)}
    text = proposal_text(all_proposals(played.contest)[0])
    for row in (ants, bees):
        entry = entries[row["team"]]
        printed = row["new"].pop("printed")
        assert row["new"] == {name: getattr(entry, name) for name in row["new"]}
        assert printed.items() <= cells[row["team"]].items()
        assert f"score {printed['score']}" in text
    assert 2 / 6 == entries["ants"].mean_ap
    runs = played.contest.database.connection.execute("select count(*) from scoring_runs")
    played.score()
    again = played.contest.database.connection.execute("select count(*) from scoring_runs")
    assert runs.fetchone()[0] == again.fetchone()[0]
    (end,) = [one["end"] for one in as_json(all_proposals(played.contest))]
    assert ("applied", "Ada", "agreed") == (end["kind"], end["operator"], end["reason"])


@pytest.mark.parametrize("end", [apply_proposal, cancel_proposal])
def test_a_proposal_that_ended_keeps_both_ranks(played, end):
    """They are those of the moment of the decision, whatever moves afterwards."""
    shown = propose(played, blacklist=blacklist(played, 5, 6, 7))
    before = [(row["old"]["rank"], row["new"]["rank"]) for row in shown["scores"]]
    assert all(None not in pair for pair in before)
    end(played.contest, shown["proposal"], "Ada", "decided")
    played.register("wasps")
    played.play("wasps", found=8, power_w=1.0)
    (ended,) = as_json(all_proposals(played.contest))
    assert before == [(row["old"]["rank"], row["new"]["rank"]) for row in ended["scores"]]
    assert ["1", "2"] == sorted(row["old"]["printed"]["rank"] for row in ended["scores"])


def test_a_cancelled_proposal_never_counts(played):
    """A cancelled proposal stays on record and cannot be applied; a repeat changes nothing."""
    before = public(played)
    number = propose(played, blacklist=blacklist(played, 1))["proposal"]
    for _ in range(2):
        cancel_proposal(played.contest, number, "Ada", "wrong file")
    assert before == public(played)
    with pytest.raises(Refusal, match="was cancelled by Ada .wrong file."):
        apply_proposal(played.contest, number, "Ada", "after all")
    assert before == public(played)


def test_an_applied_proposal_is_not_cancelled(played):
    """The way back from an applied proposal is another proposal."""
    number = propose(played)["proposal"]
    apply_proposal(played.contest, number, "Ada", "agreed")
    with pytest.raises(Refusal, match="was applied by Ada"):
        cancel_proposal(played.contest, number, "Ada", "no")


def test_the_filter_chooses_and_the_rest_is_told(played):
    """Void and unfinished sessions are skipped with the reason; others are not in the table."""
    played.desk.steps_of(1).void(1, "Kim", "wrong images")
    played.register("wasps")
    running = played.begin("wasps")
    shown = propose(played)
    assert [2] == [row["session"] for row in shown["scores"]]
    assert {1: "it is void: wrong images", running: "it is RUNNING, and only a SCORED"} == {
        row["session"]: row["reason"].partition(" session")[0] for row in shown["skipped"]
    }
    cancel_proposal(played.contest, shown["proposal"], "Ada", "only a look")
    assert [2] == [row["session"] for row in propose(played, teams=("bees",))["scores"]]


def test_a_filter_by_verdict_or_number(played):
    """Sessions are chosen by verdict or by number."""
    played.judge(2, "SUSPECT")
    shown = propose(played, verdicts=("SUSPECT",))
    assert ([2], []) == ([row["session"] for row in shown["scores"]], shown["skipped"])
    cancel_proposal(played.contest, shown["proposal"], "Ada", "only a look")
    assert [1] == [row["session"] for row in propose(played, sessions=(1,))["scores"]]


def test_an_energy_is_judged_again(event):
    """Where the judge now finds otherwise, the proposal has the new energy and its verdict."""
    event.register("ants")
    number = event.play("ants", verdict=None)
    connection = event.contest.database.connection
    judged = energy_of(connection, number)
    event.judge(number, "INVALID", None, facts=judged.detail["facts"])
    shown = propose(event)
    (row,) = shown["scores"]
    assert ("INVALID", None) == (row["old"]["verdict"], row["old"]["rank"])
    assert (judged.verdict, judged.energy_wh, 1) == (
        *(row["new"]["verdict"], row["new"]["energy_wh"]),
        row["new"]["rank"],
    )
    assert "INVALID" == energy_of(connection, number).verdict
    apply_proposal(event.contest, shown["proposal"], "Ada", "mistake in the judge")
    stored = energy_of(connection, number)
    assert (judged.verdict, judged.energy_wh) == (stored.verdict, stored.energy_wh)
    assert newest_scoring_run(connection, number).energy_id == stored.energy_id


def in_other_words(detail, version):
    """Return an energy's detail as another version would have worded it."""
    findings = [one | {"text": f"Autrement : {one['code']}."} for one in detail["findings"]]
    reasons = [one["text"] for one in findings]
    return detail | {"findings": findings, "reasons": reasons, "judged_by": version}


@pytest.mark.parametrize(("version", "same"), [("0.9", True), (__version__, False)])
def test_other_words_of_another_version_are_no_other_energy(event, version, same):
    """A finding is known by its code; only words of this version that differ are another energy."""
    event.register("ants")
    number = event.play("ants", verdict=None)
    stored = energy_of(event.contest.database.connection, number)
    assert stored.detail["findings"]
    other = replace(stored, detail=in_other_words(stored.detail, version))
    assert same == _same_energy(other, stored)
    session = load_session(event.contest.database.connection, number)
    _, again = judge_again(event.contest, session, other)
    assert again["judged_by"] == (f"0.9, {__version__}" if same else __version__)


@pytest.mark.parametrize("change", ["void", "score"])
def test_a_proposal_that_is_out_of_date_changes_nothing(played, change):
    """If one of its sessions has moved since, no session gets a new score."""
    number = propose(played, blacklist=blacklist(played, 1))["proposal"]
    if change == "void":
        played.desk.steps_of(2).void(2, "Kim", "wrong images")
    else:
        played.judge(2, "VALID", 0.3)
    before = public(played)
    with pytest.raises(Refusal, match=f"Proposal {number} is out of date.*Session 2 "):
        apply_proposal(played.contest, number, "Ada", "agreed")
    assert before == public(played)


def test_one_proposal_is_open_at_a_time(played):
    """A second proposal waits for the decision about the first, and results stay open."""
    propose(played)
    with pytest.raises(Refusal, match="Proposal 1 is open"):
        propose(played)
    assert ["Proposal 1 of new scores is open. Apply it or cancel it."] == (
        read_results(played.contest).open
    )


def test_results_of_different_files_cannot_be_final(played):
    """A proposal for one session alone leaves the sessions scored with different files."""
    number = propose(played, sessions=(1,), blacklist=blacklist(played, 1))["proposal"]
    apply_proposal(played.contest, number, "Ada", "agreed")
    (point,) = read_results(played.contest).open
    assert "different ground truth, blacklist or rules: 1 against 2" in point
    number = propose(played, blacklist=blacklist(played, 1))["proposal"]
    apply_proposal(played.contest, number, "Ada", "agreed")
    assert finalize(played.contest, ["Ada"]).entries


def test_final_results_take_no_proposal(played):
    """Neither a new proposal nor an old one moves final results."""
    finalize(played.contest, ["Ada"])
    with pytest.raises(Refusal, match="The results are final"):
        propose(played)


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ({"sessions": (9,)}, "There is no session 9"),
        ({"teams": ("nobody",)}, "'nobody' has no session"),
        ({"verdicts": ("SUSPECT",)}, "No session could be scored again"),
    ],
)
def test_a_filter_of_nothing_is_refused(played, chosen, told):
    """A proposal that could change nothing is not made."""
    with pytest.raises(Refusal, match=told):
        propose(played, **chosen)
    assert [] == all_proposals(played.contest)


def test_a_proposal_needs_name_and_reason(played):
    """Making, applying and cancelling are each by somebody and for a reason."""
    with pytest.raises(Refusal, match="needs the name"):
        make_proposal(played.contest, Filter(), " ", "why")
    with pytest.raises(Refusal, match="needs a reason"):
        make_proposal(played.contest, Filter(), "Ada", "")
    number = propose(played)["proposal"]
    with pytest.raises(Refusal, match="needs a reason"):
        apply_proposal(played.contest, number, "Ada", " ")
    with pytest.raises(Refusal, match="There is no proposal 7"):
        cancel_proposal(played.contest, 7, "Ada", "why")


def test_a_ground_truth_of_other_images_is_refused(played):
    """A truth whose images or classes are not the contest's cannot score it."""
    folder = played.contest.config.path.parent
    truth = json.loads((folder / "truth.json").read_text())
    other = folder / "other.json"
    truth["categories"].append({"id": 3, "name": "cow"})
    other.write_text(json.dumps(truth))
    with pytest.raises(InputError, match="other classes"):
        propose(played, ground_truth=other)
    truth["categories"].pop()
    truth["images"].append({"id": 99, "file_name": "99.jpg", "width": 32, "height": 24})
    other.write_text(json.dumps(truth))
    with pytest.raises(InputError, match="the image 99"):
        propose(played, ground_truth=other)


def test_a_ground_truth_of_other_sizes_is_refused(played):
    """Once in force it would keep the referee from its next start."""
    folder = played.contest.config.path.parent
    truth = json.loads((folder / "truth.json").read_text())
    truth["images"][0]["width"] = 5
    other = folder / "other.json"
    other.write_text(json.dumps(truth))
    with pytest.raises(InputError, match="says that image 1.* has 5x24 pixels, but .* has 32x24"):
        propose(played, ground_truth=other)
