# SPDX-License-Identifier: Apache-2.0
"""A season: the same bytes in any order, nothing done twice, a reason for what is broken."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from referee import __version__
from referee.errors import InputError
from referee.extras.season import rescoring
from referee.extras.season.bundle_files import find_bundles
from referee.extras.season.executor import Lost
from referee.extras.season.fitting import truth_digest
from referee.extras.season.journal import SeasonJournal
from referee.extras.season.rescoring import SeasonRequest, rescore
from referee.extras.season.rows import read_rows
from referee.extras.season.scored import score_bundle
from referee.extras.season.tasks import TruthFiles
from referee.scoring.rules import DEVKIT, VOC
from referee.service.setup.signing_key import public_text
from tests.support.season_bundles import members_of, shaken, small_truth, write, write_truth

TRUTH = small_truth()


@dataclass
class Here:
    """An executor in this process: it answers in an order of its own, and may stop or lose some."""

    seed: int = 0
    stop_after: int | None = None
    lose: str = "nothing"
    scored: list[str] = field(default_factory=list)
    workers = "this process"

    def outcomes(self, work, items):
        """Work on the items in an order that the seed decides."""
        order = list(items)
        random.Random(self.seed).shuffle(order)
        for done, task in enumerate(order):
            if done == self.stop_after:
                raise KeyboardInterrupt
            if task.rules:
                self.scored.append(task.path.name)
            yield task, Lost("It is gone.") if task.path.name == self.lose else work(task)


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    """Return the bytes of five bundles by name, and of the ground truth's file."""
    folder = tmp_path_factory.mktemp("season")
    write_truth(folder / "truth.csv", TRUTH)
    found = {"truth.csv": (folder / "truth.csv").read_bytes()}
    for number in range(5):
        detections = shaken(TRUTH, np.random.default_rng(number), 60 + 40 * number)
        path = write(folder / "a.zip", members_of(TRUTH, detections, session=number))
        found[f"hall/{number}.zip"] = path.read_bytes()
    return found


@pytest.fixture
def folder(tmp_path, contents):
    """Return a folder with the ground truth, and the bundles in `hall`."""
    (tmp_path / "hall").mkdir()
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


def run(folder, executor=None, *rules, out="season.jsonl", told=None, **asked):
    """Score the season and return its rows."""
    truth = TruthFiles(folder / "truth.csv")
    wanted = SeasonRequest(
        truth, truth_digest(truth.read()), rules or (DEVKIT,), resamples=8, **asked
    )
    tell = (lambda *shown: None) if told is None else (lambda *shown: told.append(shown))
    with SeasonJournal(folder / out) as journal:
        bundles = find_bundles([folder / "hall"])
        return rescore(bundles, wanted, executor or Here(), journal, tell)


def test_the_file_is_the_same_for_any_order_and_any_blocks(folder, monkeypatch):
    """Answers in three orders, and draws in many blocks, give the same bytes."""
    run(folder, Here(1), DEVKIT, VOC, out="a")
    run(folder, Here(2), VOC, DEVKIT, out="b")
    monkeypatch.setattr(rescoring, "_BLOCK_BYTES", 30_000)
    pieces = Here(3)
    run(folder, pieces, DEVKIT, VOC, out="c")
    assert len(pieces.scored) > 10
    assert 1 == len({(folder / name).read_bytes() for name in "abc"})


def test_a_row_is_what_the_library_returns(folder):
    """`score_bundle` returns the row that the file has, with the same name."""
    run(folder)
    rows = read_rows(folder / "season.jsonl")
    assert [f"hall/{number}.zip" for number in range(5)] == [row["file"] for row in rows]
    again = score_bundle(folder / "hall/3.zip", TRUTH, resamples=8)
    assert json.loads(json.dumps(again)) == rows[3]
    assert {__version__} == {row["referee_version"] for row in rows}


def test_what_is_done_is_not_done_again(folder):
    """A second run scores nothing; other rules come beside the rows that are there."""
    first = run(folder)
    content = (folder / "season.jsonl").read_bytes()
    idle = Here()
    again = run(folder, idle)
    assert ([], 0, 5) == (idle.scored, first.kept, again.kept)
    assert content == (folder / "season.jsonl").read_bytes()
    run(folder, Here(), VOC)
    both = read_rows(folder / "season.jsonl")
    assert 10 == len(both)
    run(folder, Here(), DEVKIT, VOC, out="at_once")
    assert (folder / "at_once").read_bytes() == (folder / "season.jsonl").read_bytes()


def test_a_season_that_was_stopped_goes_on(folder):
    """What was done before the stop is kept, a torn line is dropped, and the end is the same."""
    with pytest.raises(KeyboardInterrupt):
        run(folder, Here(stop_after=2))
    part = folder / "season.jsonl.part"
    assert 2 == len(part.read_bytes().splitlines())
    with part.open("ab") as file:
        file.write(b'{"format": 1, "fi')
    rest = Here()
    assert 2 == run(folder, rest).kept
    assert 3 == len(rest.scored)
    assert not part.exists()
    run(folder, out="whole")
    assert (folder / "whole").read_bytes() == (folder / "season.jsonl").read_bytes()


def test_a_row_from_before_counts_only_if_the_key_has_signed_its_bundle(folder):
    """With a public key a bundle that was scored without one is looked at again, and refused."""
    key = folder / "event.pub"
    key.write_bytes(public_text(Ed25519PrivateKey.generate().public_key()))
    assert {"scored"} == {row["status"] for row in run(folder).rows}
    rows = run(folder, public_keys=(key,)).rows
    assert {"manifest.json: None of the given public keys has signed it."} == {
        row.get("reason") for row in rows
    }


def test_another_version_scores_again(folder):
    """Rows of another version of the referee, or of another seed, are replaced."""
    run(folder)
    path = folder / "season.jsonl"
    content = path.read_bytes()
    path.write_bytes(content.replace(b'"referee_version":"', b'"referee_version":"0.'))
    again = Here()
    assert 0 == run(folder, again).kept
    assert (5, content) == (len(again.scored), path.read_bytes())
    run(folder, seed=3)
    assert {3} == {row["seed"] for row in read_rows(path)}
    assert 5 == len(read_rows(path))


def test_a_broken_bundle_is_a_row_until_it_is_repaired(folder, contents):
    """A broken bundle stops nobody and is tried again; a repaired one takes the row's place."""
    (folder / "hall/2.zip").write_bytes(contents["hall/2.zip"][:500])
    season = run(folder)
    assert ["This is no whole zip file: it has no end record."] == [
        row["reason"] for row in season.rows if row["status"] == "broken"
    ]
    again = Here()
    run(folder, again)
    assert ["2.zip"] == again.scored
    (folder / "hall/2.zip").write_bytes(contents["hall/2.zip"])
    run(folder)
    run(folder, out="whole")
    assert (folder / "whole").read_bytes() == (folder / "season.jsonl").read_bytes()


def test_a_bundle_that_kills_its_workers_is_a_row(folder):
    """What the executor lost has its reason in the row, and the next run tries it again."""
    assert {"It is gone.", None} == {row["reason"] for row in run(folder, Here(lose="4.zip")).rows}
    assert {None} == {row["reason"] for row in run(folder).rows}
    assert 5 == len(read_rows(folder / "season.jsonl"))


def test_the_same_bytes_twice_are_one_row(folder, contents):
    """A copy is scored once at most when it is known, and its name stands beside the first."""
    (folder / "hall/copy.zip").write_bytes(contents["hall/0.zip"])
    run(folder, out="at_once")
    (folder / "hall/copy.zip").unlink()
    run(folder)
    (folder / "hall/copy.zip").write_bytes(contents["hall/0.zip"])
    run(folder)
    assert ["hall/copy.zip"] == read_rows(folder / "season.jsonl")[0]["copies"]
    assert (folder / "at_once").read_bytes() == (folder / "season.jsonl").read_bytes()
    later = Here()
    run(folder, later, VOC)
    assert 5 == len(later.scored)


def test_a_file_that_was_replaced_leaves_no_row(folder, contents):
    """Where a name has other bytes by now, the row of the old bytes goes; others stay."""
    run(folder)
    (folder / "hall/1.zip").write_bytes(contents["hall/0.zip"])
    (folder / "hall/4.zip").unlink()
    run(folder)
    rows = read_rows(folder / "season.jsonl")
    assert ["hall/0.zip", "hall/2.zip", "hall/3.zip", "hall/4.zip"] == [it["file"] for it in rows]
    assert ["hall/1.zip"] == rows[0]["copies"]


def test_progress_ends_with_everything(folder, contents):
    """The last that is told has all bundles and all bytes, and how many are broken."""
    (folder / "hall/2.zip").write_bytes(b"PK")
    told = []
    run(folder, told=told)
    what, last = told[-1]
    assert ("scoring", 5, 5, 1) == (what, last.bundles, last.bundles_done, last.broken)
    assert (
        pytest.approx(last.bytes)
        == last.bytes_done
        == sum(path.stat().st_size for path in (folder / "hall").iterdir())
    )


def test_two_runs_cannot_write_one_file(folder):
    """The second one is told who is in its way, and changes nothing."""
    with (
        SeasonJournal(folder / "season.jsonl"),
        pytest.raises(InputError, match="is in use: another 'referee rescore' writes"),
    ):
        SeasonJournal(folder / "season.jsonl")
    assert not (folder / "season.jsonl.part").exists()


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"1,2,3\n", "line 1: is no row of a season"),
        (b"[]\n", "line 1: is no row of a season"),
        (b'{"format": 2}\n', "line 1: has the format 2, and this program knows 1"),
        (b'{"format": 1}\n', "line 1: lacks the field 'bundle_sha256'"),
    ],
)
def test_a_file_of_another_kind_is_left_as_it_is(folder, content, fault):
    """A file that is no season's is not written over, and the fault has its line."""
    path = folder / "season.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=fault):
        SeasonJournal(path)
    assert [path] == list(folder.glob("season*"))
    assert content == path.read_bytes()


def test_a_folder_that_cannot_be_written_is_said_before_any_work(folder):
    """A wrong --out costs no time."""
    with pytest.raises(InputError, match="cannot be written: No such file"):
        SeasonJournal(folder / "nowhere" / "season.jsonl")


def test_blocks_have_every_draw_once():
    """Blocks follow one another, have all draws, and are one for a bundle of usual size."""
    for size in (0, 500_000, 10**8, 10**9, 2**31):
        for resamples in (1, 7, 100, 10_000):
            blocks = rescoring.blocks_of(size, resamples)
            draws = [it for block in blocks for it in range(block.first, block.first + block.count)]
            assert list(range(resamples)) == draws
            assert len(blocks) == 1 or size * resamples > 25_000_000_000
    assert 40 == len(rescoring.blocks_of(10**8, 10_000))


def test_another_truth_on_a_worker_stops_the_season(folder):
    """A worker whose file has other boxes would give other numbers, so none are taken."""
    asked = SeasonRequest(TruthFiles(folder / "truth.csv"), "0" * 64, (DEVKIT,))
    with (
        SeasonJournal(folder / "season.jsonl") as journal,
        pytest.raises(InputError, match=r"truth\.csv is another ground truth on a worker"),
    ):
        bundles = find_bundles([folder / "hall"])
        rescore(bundles, asked, Here(), journal, lambda *shown: None)


def test_another_version_on_a_worker_stops_the_season(folder):
    """A worker with another version of the referee is refused before it scores."""
    asked = SeasonRequest(TruthFiles(folder / "truth.csv"), truth_digest(TRUTH), (DEVKIT,))
    bundle = find_bundles([folder / "hall"])[0]
    task = asked.task(bundle, asked.rules, rescoring.DrawBlock(0, 8))
    with pytest.raises(InputError, match=r"a worker runs the referee .*, and the season 0\.0\.1"):
        rescoring.perform(replace(task, version="0.0.1"))


def test_a_fault_of_ours_in_one_bundle_stops_nobody(folder, monkeypatch):
    """An exception that nobody foresaw is the reason in that bundle's row."""
    from referee.extras.season import tasks

    real = tasks.measure

    def broken(bundle, *rest):
        if bundle.told["session"] == 3:
            raise ZeroDivisionError("by zero")
        return real(bundle, *rest)

    monkeypatch.setattr(tasks, "measure", broken)
    run(folder)
    reasons = [row["reason"] for row in read_rows(folder / "season.jsonl")]
    assert [
        None,
        None,
        None,
        "The program failed at it: ZeroDivisionError: by zero.",
        None,
    ] == reasons


def test_a_file_that_changes_between_its_blocks_is_broken(folder, monkeypatch):
    """Draws of two contents never make one row."""
    monkeypatch.setattr(rescoring, "_BLOCK_BYTES", 100_000)
    real = rescoring.perform

    def changing(task):
        answer = real(task)
        other = task.path.name == "3.zip" and task.block.first > 0
        return replace(answer, bundle_sha256="0" * 64) if other else answer

    monkeypatch.setattr(rescoring, "perform", changing)
    run(folder)
    reasons = [row["reason"] for row in read_rows(folder / "season.jsonl")]
    assert [None, None, None, "The file changed while it was read.", None] == reasons


def test_a_fault_of_ours_in_one_row_stops_nobody(folder, monkeypatch):
    """Neither does an exception while a bundle's row is made."""
    real = rescoring.row_of

    def broken(key, digest, told, *more):
        return real(key, digest, told, *more) | {
            "joint": float("nan") if told["session"] == 1 else 0
        }

    monkeypatch.setattr(rescoring, "row_of", broken)
    run(folder)
    rows = read_rows(folder / "season.jsonl")
    assert rows[1]["reason"].startswith("The program failed at its row: ValueError: Out of range")
    assert [1] == [place for place, row in enumerate(rows) if row["status"] == "broken"]


def test_bundles_have_names_without_the_way_to_them(folder, tmp_path):
    """Folders below, files alone and double places are found once, the largest first."""
    (folder / "hall/day 2").mkdir()
    (folder / "hall/day 2/9.zip").write_bytes(b"PK")
    (folder / "hall/notes.txt").write_text("no bundle")
    found = find_bundles([folder / "hall", Path(f"{folder}/hall/../hall"), folder / "hall/0.zip"])
    assert ["hall/4.zip", "hall/day 2/9.zip"] == [found[0].name, found[-1].name]
    assert 6 == len(found)


def test_places_without_bundles_are_refused(folder):
    """A place that is not there or empty, and two files of one name, are wrong use."""
    (folder / "empty").mkdir()
    (folder / "other/hall").mkdir(parents=True)
    (folder / "other/hall/1.zip").write_bytes(b"PK")
    for places, fault in (
        (["missing"], "missing does not exist"),
        (["empty"], "has no file that ends in .zip"),
        (["hall", "other/hall"], "would both be called hall/1.zip: give the folder above both"),
    ):
        with pytest.raises(InputError, match=fault):
            find_bundles([folder / place for place in places])
