# SPDX-License-Identifier: Apache-2.0
"""The files of an applied proposal hold: for later sessions, restarts, bundles and corrections."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from referee.commands import proposal
from referee.errors import InputError, Refusal
from referee.service.event.proposals import apply_proposal, cancel_proposal
from referee.service.event.rescoring import Filter, make_proposal
from referee.service.event.results import read_results
from referee.service.evidence.bundle import write_bundle
from referee.service.evidence.slip import slip_page_of
from referee.service.evidence.verify import verify_bundle
from referee.service.results.final_score import score_session
from referee.service.results.live_scorer import LiveScorer
from referee.service.setup.contest_truth import read_contest_truth, read_truth_of_session
from referee.service.setup.preparation import prepare_contest
from referee.store.images import load_inputs
from referee.store.inputs_in_force import inputs_in_force
from referee.store.readings import energy_of
from referee.store.scores import newest_scoring_run
from referee.store.sessions import load_session


@pytest.fixture
def played(event):
    """Return an event in which 'ants' found the boxes 1 to 4 of 8."""
    event.register("ants", "bees", "crabs")
    event.play("ants")
    return event


def truth_of(event):
    """Return the configured ground truth."""
    return event.contest.config.images.ground_truth


def corrected(event, image=4, name="new.json"):
    """Write a ground truth in which the box of one image is elsewhere, and return its path."""
    path = truth_of(event)
    document = json.loads(path.read_text())
    for one in document["annotations"]:
        if one["image_id"] == image:
            one["bbox"] = [20, 1, 3, 3]
    new = path.with_name(name)
    new.write_text(json.dumps(document))
    return new


def put_in_force(event, **chosen):
    """Make a proposal, apply it, and return its number."""
    number = make_proposal(event.contest, Filter(**chosen), "Ada", "a wrong box")
    apply_proposal(event.contest, number, "Ada", "agreed")
    return number


def accuracy(event, number):
    """Return the mAP of a session's newest score."""
    return newest_scoring_run(event.contest.database.connection, number).accuracy


def restart(event):
    """Prepare the contest again, as a start does."""
    prepare_contest(event.contest.config)[0].close()


def test_an_applied_truth_holds_for_the_sessions_that_come(played):
    """The next session is scored with it, and its bundle verifies with it and not with the old."""
    old = shutil.copy(truth_of(played), truth_of(played).with_name("old.json"))
    new = corrected(played)
    before = load_inputs(played.contest.database.connection)
    put_in_force(played, ground_truth=new)
    assert (3 / 8, 2) == (accuracy(played, 1), played.play("bees"))
    assert 3 / 8 == accuracy(played, 2)
    assert [[], []] == [list(one.differs) for one in read_results(played.contest).entries[:2]]
    assert before == load_inputs(played.contest.database.connection)
    bundle = new.with_name("bundle.zip")
    write_bundle(played.contest, 2, bundle)
    ((), (other,)) = (
        # A fake judge has judged the energy, which is another finding.
        tuple(one.what for one in verify_bundle(bundle, truth) if one.member == "score.json")
        for truth in (new, old)
    )
    assert "is not the session's ground_truth" in other
    assert "--ground-truth new.json" in slip_page_of(played.contest, 2)


def test_a_running_scorer_takes_it_at_once(played):
    """It does not score with what it has read before, even in the moment of the change."""
    scorer = LiveScorer(played.contest)
    truth, energy = (
        read_contest_truth(played.contest),
        energy_of(played.contest.database.connection, 1),
    )
    put_in_force(played, ground_truth=corrected(played))
    session = load_session(played.contest.database.connection, 1)
    assert score_session(played.contest, truth, session, energy) is None
    played.answer(1, [7])
    scorer.look()
    assert pytest.approx(3 / 8 + 4 / 5 / 8) == accuracy(played, 1)
    inputs = newest_scoring_run(played.contest.database.connection, 1).detail["inputs"]
    assert inputs == inputs_in_force(played.contest.database.connection).sha256


def test_what_was_scored_before_stays_marked(played):
    """A proposal of some sessions makes the ranking a mixture, which is marked and open."""
    played.play("bees")
    put_in_force(played, ground_truth=corrected(played), sessions=(1,))
    played.play("crabs")
    results = read_results(played.contest)
    marks = {one.team: [it.condition for it in one.differs] for one in results.entries}
    assert {"ants": [], "bees": ["ground_truth"], "crabs": []} == marks
    assert any("different ground truth" in point for point in results.open)
    with pytest.raises(Refusal, match="other files than those in force"):
        read_truth_of_session(played.contest, 2)
    put_in_force(played)  # With the files in force.
    assert [] == read_results(played.contest).open


def test_the_corrected_file_may_take_the_old_ones_place(played):
    """A start knows files by their bytes: old or in force, here or where the proposal found it."""
    new = corrected(played)
    put_in_force(played, ground_truth=new)
    restart(played)
    shutil.copy(new, truth_of(played))
    new.unlink()
    restart(played)
    played.play("bees")
    assert 3 / 8 == accuracy(played, 2)


@pytest.mark.parametrize("corrects_again", [False, True])
def test_any_other_file_is_refused_with_the_whole_way(played, corrects_again):
    """A file that is neither old nor in force stops a start, before and after a correction."""
    if corrects_again:
        put_in_force(played, ground_truth=corrected(played))
    corrected(played, image=2, name="truth.json")
    with pytest.raises(InputError) as error:
        restart(played)
    for part in ("Put the old file back", "make --ground-truth new.json", "proposal apply"):
        assert part in str(error.value)


def test_a_second_correction_takes_over(played):
    """The newest applied proposal counts; a cancelled one never does."""
    put_in_force(played, ground_truth=corrected(played))
    again = Filter(ground_truth=corrected(played, image=2, name="wrong.json"))
    number = make_proposal(played.contest, again, "Ada", "another box")
    cancel_proposal(played.contest, number, "Ada", "the wrong file")
    assert (
        "new.json"
        in inputs_in_force(played.contest.database.connection).inputs["ground_truth"].path
    )
    put_in_force(played, ground_truth=truth_of(played))
    assert (4 / 8, 2) == (accuracy(played, 1), played.play("bees"))
    assert 4 / 8 == accuracy(played, 2)


def test_an_applied_blacklist_needs_no_file_and_can_be_taken_back(played):
    """Its bytes are a fact; without it again, the next session is scored without it."""
    path = truth_of(played).with_name("black.csv")
    path.write_text("1,1\n")
    put_in_force(played, blacklist=path)
    path.unlink()
    restart(played)
    played.play("bees")
    assert (3 / 7, 3 / 7) == (accuracy(played, 1), accuracy(played, 2))
    put_in_force(played)
    told = proposal._in_force(played.contest)
    assert "referee has kept" in told and "blacklist.csv" not in told  # No such file is there.
    put_in_force(played, no_blacklist=True)
    played.play("crabs")
    assert [4 / 8] * 3 == [accuracy(played, number) for number in (1, 2, 3)]


def test_a_proposal_whose_file_has_changed_is_not_applied(played):
    """The sessions that come could not be scored with what it showed."""
    new = corrected(played)
    number = make_proposal(played.contest, Filter(ground_truth=new), "Ada", "a wrong box")
    new.write_text(new.read_text() + " ")
    with pytest.raises(Refusal, match="Nothing was applied") as refusal:
        apply_proposal(played.contest, number, "Ada", "agreed")
    assert "new.json: has changed" in refusal.value.faults[0]
    assert inputs_in_force(played.contest.database.connection) is None


def test_a_contest_that_is_moved_goes_on_with_its_images(played, tmp_path):
    """A truth in force may list fewer images, so they are known by their preparation."""
    new = corrected(played)
    document = json.loads(new.read_text())
    document["images"] = document["images"][:7]
    document["annotations"] = [one for one in document["annotations"] if one["image_id"] < 8]
    new.write_text(json.dumps(document))
    put_in_force(played, ground_truth=new)
    config = played.contest.config
    config.images.folder.rename(tmp_path / "moved")
    moved = replace(config, images=replace(config.images, folder=tmp_path / "moved"))
    database, manifest = prepare_contest(moved)
    database.close()
    assert 8 == len(manifest.images)
    assert {tmp_path / "moved"} == {Path(one.path).parent for one in manifest.images}
    (tmp_path / "moved/3.jpg").unlink()
    with pytest.raises(InputError, match=r"1 of 8 images are not there, for example 3\.jpg"):
        prepare_contest(moved)
