# SPDX-License-Identifier: Apache-2.0
"""No sentence is data: other words change neither a verdict nor what a bundle's check says."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from power.energy.verdict import Verdict
from referee.service.entry import images
from referee.service.entry.images import ImageMissing, image_for
from referee.service.entry.request_log import RequestLog
from referee.service.evidence.bundle import write_bundle
from referee.service.evidence.verify import verify_bundle
from referee.service.results import final_score, score_uncertainty
from referee.service.results.finding_words import (
    IMAGES_MISSING,
    JUDGED_BY,
    LATER_THAN_1_0,
    NOTICES_OF_1_0,
)
from referee.service.results.session_energy import judge_session
from referee.store.journal import Journal
from referee.store.notices import Subject, insert_notice, notices_of
from referee.store.readings import insert_energy
from referee.store.sessions import load_session
from tests.service.evidence.test_every_rule import (
    ENERGY,
    FIXED,
    METER,
    Run,
    contest,
    stored,
    told_of,
)
from tests.support.contests import make_contest
from tests.support.fakes import FakeClock
from tests.support.played_sessions import play

__all__ = ["contest"]

_TOLD = ("verdict.json", "facts.jsonl")
OLD = "Image 3: /x/3.jpg cannot be read: No such file or directory. Change nothing."


def of_1_0(connection, session_id, text, level="alarm"):
    """Store a notice as 1.0 did: no table has what it is about."""
    connection.execute(
        "insert into notices (session_id, utc, level, text) values (?, 'then', ?, ?)",
        (session_id, level, text),
    )


def judged(contest, *writes, detail=None):
    """Store a good run and the writes, and judge it; return its number and its energy's detail."""
    number, _ = stored(contest, Run(), without="everything")
    with contest.database.write() as connection:
        for write in writes:
            write(connection, number)
    session = load_session(contest.database.connection, number)
    result, judgement = judge_session(contest, session, FIXED, METER, ())
    kept = judgement if detail is None else detail(json.loads(json.dumps(judgement)))
    with contest.database.write() as connection:
        insert_energy(
            connection,
            number,
            utc="then",
            energy_wh=ENERGY,
            uncertainty_wh=result.uncertainty_wh,
            verdict=result.verdict.value,
            detail=kept,
        )
    return number, judgement


def gone(image_id, text="It is gone."):
    """Return what stores the alarm about an image."""
    subject = Subject(image_id=image_id)
    return lambda connection, number: insert_notice(
        connection, number, "then", "alarm", text, subject
    )


def energy_told(contest, number, folder: Path):
    """Return what the check of a session's bundle says of its energy and its facts."""
    folder.mkdir(exist_ok=True)
    told_of(contest, number, folder)
    truth = contest.config.images.ground_truth
    findings = verify_bundle(folder / "bundle.zip", truth)
    # The log of the meter in these contests has no more than a START.
    told = [f"{one.member}: {one.what}" for one in findings]
    return [one for one in told if one.startswith(_TOLD) or "Nothing in the evidence" in one]


def worded(contest, session, words, monkeypatch):
    """Ask for an image that is gone, under an alarm of these words; return what is stored then."""
    journal = Journal(contest.database)
    monkeypatch.setattr(images, "image_alarm", lambda entry, fault: words)
    try:
        with pytest.raises(ImageMissing) as missing:
            image_for(contest, session, "2")
        RequestLog(contest, journal).alarm(session, missing.value)
    finally:
        journal.close()
    return notices_of(contest.database.connection, session.session_id)


@pytest.mark.parametrize("words", ["L'image manque !", "Image 1: no such thing.", ""])
def test_a_reworded_alarm_changes_nothing(contest, tmp_path, monkeypatch, words):
    """Verdict, missing image and the check of the bundle follow from the row, not from its text."""
    number, _ = stored(contest, Run(), without="everything")
    session = load_session(contest.database.connection, number)
    entry = contest.images[1]
    lost = replace(entry, path=str(tmp_path / "none.jpg"))
    one = replace(contest, images=(contest.images[0], lost, *contest.images[2:]))
    (notice,) = worded(one, session, words, monkeypatch)
    assert (words, Subject(image_id=2)) == (notice.text, notice.subject)
    result, detail = judge_session(contest, session, FIXED, METER, ())
    assert (Verdict.SUSPECT, [2]) == (result.verdict, detail[IMAGES_MISSING])
    number, _ = judged(contest, gone(2, words))
    assert [] == energy_told(contest, number, tmp_path)


def test_an_alarm_of_1_0_is_read_by_its_words(contest, tmp_path):
    """A bundle of 1.0 holds as it did: its energy says neither who judged nor which images."""

    def as_1_0(detail):
        return {name: detail[name] for name in detail if name not in LATER_THAN_1_0}

    number, detail = judged(contest, lambda c, n: of_1_0(c, n, OLD), detail=as_1_0)
    assert [3] == detail[IMAGES_MISSING]
    assert [] == energy_told(contest, number, tmp_path)


@pytest.mark.parametrize(
    ("text", "level"), [("Image 3 is fine.", "alarm"), ("An Image 3: no.", "alarm"), (OLD, "info")]
)
def test_other_sentences_of_1_0_name_no_image(contest, text, level):
    """Only the alarm that 1.0 wrote about an image names one."""
    _, detail = judged(contest, lambda c, n: of_1_0(c, n, text, level))
    assert [] == detail[IMAGES_MISSING]


def reworded(detail):
    """Put other words into each finding of an energy, as another version of the judge does."""
    for one in (*detail["findings"], *detail["facts"]["added"]):
        one["text"] = f"Autrement dit : {one['code']}."
    return detail | {"reasons": [one["text"] for one in detail["findings"]], JUDGED_BY: "0.9"}


def test_findings_of_another_version_are_compared_by_their_codes(contest, tmp_path):
    """A version that words its findings otherwise does not accuse an older bundle."""
    number, detail = judged(contest, gone(3), detail=reworded)
    assert detail["findings"]
    assert [] == energy_told(contest, number, tmp_path)


def forged(change):
    """Return a change of a reworded detail."""

    def changed(detail):
        change(detail := reworded(detail))
        return detail

    return changed


@pytest.mark.parametrize(
    "change",
    [
        lambda detail: detail["findings"][-1].update(code="other"),
        lambda detail: detail["findings"][-1].update(severity="VALID"),
        lambda detail: detail["facts"]["added"].pop(),
        lambda detail: detail["reasons"].append("All is well."),
        lambda detail: detail.update({IMAGES_MISSING: [4]}),
        lambda detail: detail.pop(IMAGES_MISSING),
        lambda detail: detail.pop(JUDGED_BY),
        lambda detail: [detail.pop(name) for name in LATER_THAN_1_0],
    ],
)
def test_what_is_no_word_is_compared_all_the_same(contest, tmp_path, change):
    """Codes, severities, images and the version itself cannot be changed in any bundle."""
    number, _ = judged(contest, gone(3), detail=forged(change))
    assert energy_told(contest, number, tmp_path)


def test_words_of_this_version_are_compared(contest, tmp_path):
    """Who puts words into a finding of this version is told."""
    number, _ = judged(contest, gone(3), detail=lambda d: reworded(d) | {JUDGED_BY: d[JUDGED_BY]})
    assert any("judged again" in one for one in energy_told(contest, number, tmp_path))


def test_a_removed_subject_is_told(contest, tmp_path):
    """The judge notes how many notices 1.0 stored: no other one may lack its row."""
    alarm = partial(of_1_0, text=OLD)
    number, detail = judged(contest, alarm)
    assert (1, [3]) == (detail[NOTICES_OF_1_0], detail[IMAGES_MISSING])
    assert [] == energy_told(contest, number, tmp_path / "whole")
    number, _ = judged(contest, alarm, detail=lambda detail: detail | {NOTICES_OF_1_0: 0})
    (told,) = energy_told(contest, number, tmp_path / "removed")
    assert f"{NOTICES_OF_1_0}: found 0, expected 1" in told


def test_other_words_for_an_interval_accuse_no_bundle(tmp_path, monkeypatch):
    """A score says in a sentence what its intervals mean; the numbers are compared."""
    contest = make_contest(tmp_path, FakeClock(), mode="event", seconds=20)
    write_bundle(contest, play(contest), tmp_path / "bundle.zip")
    contest.database.close()
    with zipfile.ZipFile(tmp_path / "bundle.zip") as members:
        assert score_uncertainty._MEANING in members.read("score.json").decode()
    monkeypatch.setattr(score_uncertainty, "_MEANING", "la moyenne")
    assert [] == verify_bundle(tmp_path / "bundle.zip", tmp_path / "truth.json")


def test_a_score_with_intervals_of_the_first_rule_verifies(tmp_path, monkeypatch):
    """An earlier score names no rule of its intervals: the rule that it had computes them."""
    contest = make_contest(tmp_path, FakeClock(), mode="event", seconds=20)
    with monkeypatch.context() as earlier:
        by_now = score_uncertainty.uncertainty_report

        def by_then(mine, energy, draws):
            report = by_now(mine.by_rule(1), energy, draws)
            del report["uncertainty"]["interval_rule"]
            return report

        earlier.setattr(final_score, "uncertainty_report", by_then)
        write_bundle(contest, play(contest), tmp_path / "bundle.zip")
    contest.database.close()
    assert [] == verify_bundle(tmp_path / "bundle.zip", tmp_path / "truth.json")
    with zipfile.ZipFile(tmp_path / "bundle.zip") as members:
        told = json.loads(members.read("score.json"))["uncertainty"]
    assert "interval_rule" not in told
    # As that version stored it for this session.
    assert [0.0008201038244955642, 0.9995037270215796] == told["mean_ap"]


def test_the_reader_of_1_0_is_asked_only_for_what_has_no_row(contest, monkeypatch):
    """No sentence of this version reaches it."""
    asked = []
    monkeypatch.setattr(
        "referee.service.setup.image_files.subject_of_1_0",
        lambda notice: asked.append(notice.text) or Subject(),
    )
    judged(contest, gone(3, "new"), lambda c, n: of_1_0(c, n, OLD))
    assert {OLD} == set(asked)
