# SPDX-License-Identifier: Apache-2.0
"""Whatever a session was, its bundle is verified, and a second path gives the same score."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

import pytest

from referee.cli import main
from referee.formats.hashed_reads import HashedReads
from referee.service.event.proposals import apply_proposal
from referee.service.event.rescoring import Filter, make_proposal
from referee.service.evidence.bundle import write_bundle
from referee.service.evidence.slip import slip_of, slip_page_of
from referee.service.evidence.verify import verify_bundle
from referee.service.results.final_score import compute_run
from referee.service.setup.config_file import load_config
from referee.service.setup.contest import open_contest
from referee.service.setup.contest_truth import read_truth_with
from referee.service.setup.preparation import prepare_contest
from referee.service.setup.signing_key import ensure_signing_key
from referee.store.proposals import stored_proposals
from referee.store.readings import energy_of
from referee.store.scores import insert_scoring_run
from referee.store.sessions import load_session, record_event
from tests.support.contests import write_images, write_truth
from tests.support.fakes import FakeClock
from tests.support.played_sessions import play

NAMES = [f"{number}.jpg" for number in range(1, 5)]
METER = '[meter]\nresource = "TCPIP::192.0.2.7::inst0::INSTR"\n'
LANES = """
[[lane]]
name = "left"
contest = "127.0.0.1:0"
resource = "TCPIP::192.0.2.7::inst0::INSTR"
[[lane]]
name = "right"
contest = "127.0.0.1:1"
resource = "TCPIP::192.0.2.8::inst0::INSTR"
ambient_c = 21.5
"""


def coco(folder):
    """Write ground truth as COCO instances."""
    write_truth(folder / "truth.json", list(enumerate(NAMES, 1)))
    return folder / "truth.json"


def csv(folder):
    """Write ground truth as CSV with a header, and the sizes beside it."""
    rows = [f"{n},1,{n},2,{n + 9},11" for n in range(1, 5)]
    (folder / "truth.csv").write_text(
        "\n".join(["image_id,class_id,xmin,ymin,xmax,ymax", *rows]) + "\n"
    )
    (folder / "sizes.csv").write_text("".join(f"{n},32,24\n" for n in range(1, 5)))
    return folder / "truth.csv"


def xml(folder):
    """Write ground truth as a folder of PASCAL VOC XML."""
    (folder / "truth").mkdir()
    for n, name in enumerate(NAMES, 1):
        box = f"<xmin>{n}</xmin><ymin>2</ymin><xmax>{n + 9}</xmax><ymax>11</ymax>"
        (folder / "truth" / f"{n}.xml").write_text(
            f"<annotation><filename>{name}</filename>"
            "<size><width>32</width><height>24</height><depth>3</depth></size>"
            f"<object><name>cat</name><bndbox>{box}</bndbox></object></annotation>"
        )
    return folder / "truth"


def yolo(folder):
    """Write ground truth as YOLO labels: boxes, an outline, a row twice, an image without objects.

    The names lie above the labels.
    """
    (folder / "truth").mkdir()
    row = f"0 {7 / 32!r} {7 / 24!r} {10 / 32!r} {10 / 24!r}\n"
    outline = "1 0.1 0.1 0.6 0.1 0.6 0.7\n"
    for n, text in enumerate(("\ufeff" + row + row, outline + row.replace("\n", "\r\n"), ""), 1):
        (folder / "truth" / f"{n}.txt").write_text(text, newline="")
    (folder / "data.yaml").write_text("names: [cat, dog]\n")
    return folder / "truth"


def xml_of_folders(folder):
    """Write Chinese XML of Windows for images with equal names in two folders."""
    (folder / "truth").mkdir()
    for n, name in enumerate(NAMES, 1):
        home, file = ("Test", "Train")[n % 2], f"图 {(n + 1) // 2}.JPG"
        (folder / "images" / home).mkdir(exist_ok=True)
        (folder / "images" / name).rename(folder / "images" / home / file)
        box = f"<xmin>{n}</xmin><ymin>2</ymin><xmax>{n + 9}</xmax><ymax>11</ymax>"
        written = f"<folder>images</folder><filename>D:\\images\\{home}\\{file.lower()}</filename>"
        (folder / "truth" / f"photo{n}.XML").write_text(
            f"<?xml version='1.0' encoding='gb2312'?><annotation>{written}"
            f"<object><name>cat</name><bndbox>{box}</bndbox></object></annotation>",
            encoding="gbk",
        )
    return folder / "truth"


@dataclass(frozen=True)
class Case:
    """A session of a kind: contest, ground truth, play, and what does not hold in the end."""

    contest: str = ""
    images: str = ""
    rest: str = METER
    truth: Callable[[Path], Path] = coco
    blacklist: str = ""
    play: dict = field(default_factory=dict)
    then: Callable[..., None] | None = None
    told: tuple[str, ...] = ()


def voided(contest, number):
    """Void the session."""
    with contest.database.write() as connection:
        record_event(connection, number, "voided", contest.clock.now(), actor="Kim", cause="why")


def other_settings(contest, number):
    """Change contest.toml after the session, as for the next day."""
    path = contest.config.path
    path.write_text(path.read_text().replace("seconds = 20", "seconds = 600"))


def scored_anew(contest, number):
    """Correct the ground truth, and score the session by it once more."""
    path = contest.config.images.ground_truth
    told = json.loads(path.read_text())
    told["annotations"][0]["bbox"][0] += 1
    path.write_text(json.dumps(told))
    connection = contest.database.connection
    truth, _ = read_truth_with(contest, path, None)
    session, energy = load_session(connection, number), energy_of(connection, number)
    run = compute_run(contest, truth, session, energy)
    detail = {**run.detail, "inputs": {"ground_truth": HashedReads().sha256_of(path)}}
    with contest.database.write() as connection:
        insert_scoring_run(connection, number, contest.clock.now(), replace(run, detail=detail))


UNSCORED = ("score.json: The session has no score.",)
CASES = {
    "COCO instances": Case(),
    "CSV": Case(truth=csv, images='sizes = "sizes.csv"\nclasses = 2\n'),
    "XML": Case(truth=xml),
    "YOLO": Case(truth=yolo),
    "XML of other systems": Case(truth=xml_of_folders),
    "a blacklist": Case(blacklist="2,1\n4,1\n"),
    "the camera": Case(contest='track = "camera"\n'),
    "the images in order": Case(play={"shuffled": False}),
    "no box at all": Case(play={"posts": [[]]}),
    "lane 2": Case(rest=LANES, play={"lane": 2}),
    "conditions": Case(rest=METER + "ambient_c = 23.5\ncalibrated = 2020-01-31\n"),
    "an early end": Case(play={"seconds": 12}),
    "a SUSPECT energy": Case(play={"ranges": (None, None)}),
    "an INVALID energy": Case(play={"watts": 0.0}),
    "other settings since": Case(then=other_settings),
    "a corrected ground truth": Case(then=scored_anew),
    "no score yet": Case(play={"to": 2}, told=UNSCORED),
    "no energy yet": Case(
        play={"to": 1}, told=("verdict.json: The session is ENDED and has no energy.", *UNSCORED)
    ),
    "it runs": Case(
        play={"to": 0}, told=("verdict.json: The session is RUNNING and has no energy.", *UNSCORED)
    ),
    "void": Case(play={"to": 1}, then=voided, told=UNSCORED),
}


def contest_of(folder, case):
    """Prepare and open the contest of a case; return it with its ground truth."""
    folder.mkdir(exist_ok=True)
    write_images(folder / "images", NAMES)
    truth = case.truth(folder)
    lines = ['[contest]\nmode = "event"\nseconds = 20\n', case.contest, "[images]\n"]
    lines += ['folder = "images"\n', f'ground_truth = "{truth.name}"\n', case.images]
    if case.blacklist:
        (folder / "blacklist.csv").write_text(case.blacklist)
        lines.append('blacklist = "blacklist.csv"\n')
    (folder / "contest.toml").write_text("".join([*lines, case.rest]))
    config = load_config(folder / "contest.toml")
    config.storage.folder.mkdir(parents=True)
    ensure_signing_key(config.storage.folder, config.path)
    database, _ = prepare_contest(config)
    database.close()
    return open_contest(config, FakeClock()), truth


@pytest.mark.parametrize("name", CASES)
def test_a_session_of_every_kind(tmp_path, capsys, name):
    """Its bundle holds with second path, key, judge and slip, or says in words what it lacks."""
    case = CASES[name]
    contest, truth = contest_of(tmp_path, case)
    number = play(contest, **case.play)
    if case.then is not None:
        case.then(contest, number)
    write_bundle(contest, number, tmp_path / "bundle.zip")
    slip = slip_of(contest.database.connection, number)
    contest.database.close()
    bundle, judge = str(tmp_path / "bundle.zip"), str(tmp_path / "judge.key")
    assert 0 == main(["sign", "--new-key", judge])
    assert 0 == main(["sign", bundle, "--key", judge])
    options = ["--ground-truth", str(truth), "--public-key", str(tmp_path / "signing.pub")]
    options += ["--public-key", f"{judge}.pub", "--json"]
    options += ["--blacklist", str(tmp_path / "blacklist.csv")] if case.blacklist else []
    options += ["--slip", slip] if slip else []
    options += [] if case.told else ["--shadow"]
    capsys.readouterr()
    code = main(["verify", bundle, *options])
    told = json.loads(capsys.readouterr().out)
    assert list(case.told) == [f"{one['member']}: {one['what']}" for one in told["findings"]]
    assert (1, False) if case.told else (0, True) == (code, told["holds"])


def test_labels_alone_verify_a_session_on_another_machine(tmp_path):
    """A bundle knows the images' sizes and the classes, so label files are all that it takes."""
    contest, truth = contest_of(tmp_path / "here", CASES["YOLO"])
    number = play(contest)
    write_bundle(contest, number, tmp_path / "bundle.zip")
    contest.database.close()
    elsewhere = tmp_path / "there" / "annotations"
    shutil.copytree(truth, elsewhere)
    shutil.rmtree(tmp_path / "here")
    assert [] == verify_bundle(tmp_path / "bundle.zip", elsewhere, shadow=True)
    (elsewhere / "1.txt").write_text("0 0.5 0.5 0.1 0.1\n")
    (finding,) = verify_bundle(tmp_path / "bundle.zip", elsewhere)
    assert "is not the session's ground_truth" in finding.what


def test_a_blacklist_through_a_pipe_is_hashed_as_it_is_read(tmp_path):
    """A pipe gives its bytes once: they are scored, they are hashed, and they verify."""
    write_images(tmp_path / "images", NAMES)
    config = tmp_path / "contest.toml"
    truth = coco(tmp_path)
    config.write_text(
        f'[contest]\nmode = "event"\nseconds = 20\n[images]\nfolder = "images"\n'
        f'ground_truth = "{truth.name}"\n{METER}'
    )
    loaded = load_config(config)
    prepare_contest(loaded)[0].close()
    contest = open_contest(loaded, FakeClock())
    number, content = play(contest), b"2,1\n4,1\n"
    reading, writing = os.pipe()
    os.write(writing, content)
    os.close(writing)
    chosen = Filter(blacklist=Path(f"/dev/fd/{reading}"))
    proposal = make_proposal(contest, chosen, "Kim", "a new list")
    os.close(reading)
    (stored,) = stored_proposals(contest.database.connection)
    assert sha256(content).hexdigest() == stored.inputs["blacklist"]
    assert "--blacklist" not in slip_page_of(contest, number)
    apply_proposal(contest, proposal, "Kim", "agreed")
    assert "--ground-truth truth.json --slip" in slip_page_of(contest, number)  # The bundle has it.
    write_bundle(contest, number, tmp_path / "bundle.zip")
    contest.database.close()
    with zipfile.ZipFile(tmp_path / "bundle.zip") as archive:
        assert content == archive.read("blacklist.csv")
    assert [] == verify_bundle(tmp_path / "bundle.zip", truth, shadow=True)
    (tmp_path / "list.csv").write_bytes(content)
    for shadow in (False, True):
        reading, writing = os.pipe()
        os.write(writing, content)
        os.close(writing)
        for path in (tmp_path / "list.csv", Path(f"/dev/fd/{reading}")):
            assert [] == verify_bundle(tmp_path / "bundle.zip", truth, path, shadow=shadow)
        os.close(reading)
