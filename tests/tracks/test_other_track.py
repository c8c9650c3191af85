# SPDX-License-Identifier: Apache-2.0
"""A track of other rules is one module: a whole session of image classification proves it."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from dataclasses import dataclass

import pytest

from referee.demo.scenes import generate
from referee.errors import Refusal
from referee.service.entry.images import archive_for, image_for
from referee.service.evidence.verify import verify_bundle
from referee.service.setup.config_file import load_config
from referee.service.setup.contest import open_contest
from referee.service.setup.contest_truth import read_contest_truth
from referee.service.setup.session_images import order_of
from referee.store.sessions import load_session
from referee.tracks.track import Delivery
from tests.support.contests import make_contest
from tests.support.running import eventually, get, program, referee, request
from tests.tracks.top1 import Top1Track

IMAGES = 6
CONFIG = """
[contest]
mode = "practice"
track = "tests.tracks.top1"
seconds = 120
shuffle = true
[images]
folder = '{images}'
ground_truth = '{truth}'
[server]
contest = "127.0.0.1:0"
console = "127.0.0.1:0"
[meter]
resource = "emulated"
update_interval_s = 0.1
voltage_range_v = 150.0
current_range_a = 0.5
"""


@dataclass
class Contestant:
    """A classifier as a client of the protocol."""

    url: str
    token: str = ""

    def log_in(self):
        """Log in, and keep the token."""
        form = b"username=ants&password=practice"
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        status, body = request(f"{self.url}/login", form, kind)
        assert 200 == status
        self.token = body.decode()

    def post(self, body, kind="text/csv"):
        """Post an answer and return status and body."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": kind}
        status, answer = request(f"{self.url}/result", body, headers)
        return status, answer.decode()

    def log_out(self):
        """End the session."""
        status, _ = request(f"{self.url}/logout", b"", {"Authorization": f"Bearer {self.token}"})
        assert 200 == status


def right_classes(config):
    """Return a class in the image for each number of the session's order."""
    contest = open_contest(load_config(config))
    try:
        truth = read_contest_truth(contest)
        session = load_session(contest.database.connection, 1)
        assert "top1" == session.track
        labels = dict(zip(truth.box_image_id.tolist(), truth.box_class_id.tolist(), strict=True))
        order = order_of(contest.image_count, session.order_seed)
        return [labels[image] for image in order.tolist()]
    finally:
        contest.database.close()


@pytest.mark.slow
def test_a_whole_session_of_classification(tmp_path):
    """Login, image, answers, live score, final score, board and bundle follow the other rules."""
    scenes = generate(tmp_path / "scenes", count=IMAGES, seed=7)
    config = tmp_path / "contest.toml"
    config.write_text(CONFIG.format(images=scenes.images, truth=scenes.ground_truth))
    with program(["serve", "--config", str(config)], tmp_path) as running:
        ants = Contestant(running.contest)
        eventually(lambda: running.lane()["meter"]["link"] == "ok", "the meter")
        ants.log_in()
        status, picture = get(f"{ants.url}/image/1", Authorization=f"Bearer {ants.token}")
        assert (200, b"\xff\xd8") == (status, picture[:2])
        classes = right_classes(config)
        wrong = [klass % 2 + 1 if klass > 2 else 3 - klass for klass in classes]

        status, receipt = ants.post(f"1,{classes[0]}\n99,1,0.5\n".encode())
        assert (200, 2) == (status, json.loads(receipt)["stored"])
        assert [{"row": 2, "reason": "unknown image"}] == json.loads(receipt)["flagged"]
        live = eventually(lambda: running.lane()["current"]["mean_ap"], "a live score")
        assert 1 / IMAGES == live
        lines = [f"{n},{klass},0.9" for n, klass in enumerate(classes[:4], 1)]
        assert 200 == ants.post("\n".join(lines).encode())[0]
        assert 200 == ants.post(f"4,{wrong[3]},0.95\n4,{classes[3]},0.95".encode())[0]

        status, text = ants.post(b"7,cat\n")
        assert (400, True) == (status, "line 1: '7,cat' is not image_id" in text)
        status, text = ants.post(b"[]", "application/json")
        assert "the track 'top1' takes no answers as json" in text
        ants.log_out()
        row = running.scored()
        assert 3 / IMAGES == row["mean_ap"]
        assert row["score"] == row["mean_ap"] / row["energy_wh"]
        figures = running.board()["figures"]
        assert ("top-1", "top-1/Wh") == (figures["accuracy"]["label"], figures["score"]["unit"])

        bundle = tmp_path / "session.zip"
        done = referee("export", "1", "--out", str(bundle), "--config", str(config))
        assert (0, True) == (done.returncode, "top-1/Wh" in done.stderr), done.stderr
    with zipfile.ZipFile(bundle) as members:
        score = json.loads(members.read("score.json"))
        assert ("top1", IMAGES, 3) == (score["metric"], score["images"], score["right"])
        assert (row["mean_ap"], row["score"]) == (score["top1"], score["score"])
        assert "top1" == json.loads(members.read("session.json"))["track"]
        rows = list(csv.reader(io.TextIOWrapper(members.open("detections.csv"))))
        assert ["1", str(classes[0]), "1.0"] == rows[0]
        assert 8 == len(rows)
    (finding,) = verify_bundle(bundle, scenes.ground_truth)
    assert "Its track 'tests.tracks.top1' has rules of its own" in finding.what
    named = "tests.tracks.top1"
    assert [] == verify_bundle(bundle, scenes.ground_truth, track=named)
    (finding,) = verify_bundle(bundle, scenes.ground_truth, shadow=True, track=named)
    assert "There is no second path for the rules 'top1'" in finding.what


class ShownTrack(Top1Track):
    """The same rules over pictures that only a screen shows."""

    delivery = Delivery.SHOWN


def test_a_shown_image_is_never_sent(tmp_path, clock, monkeypatch):
    """A track that shows its images on a screen sends none, alone or in an archive."""
    monkeypatch.setattr("tests.tracks.top1.TRACK", ShownTrack())
    contest = make_contest(tmp_path, clock, track="tests.tracks.top1")
    for send in (image_for, archive_for):
        with pytest.raises(Refusal, match="shown on a screen") as refused:
            send(contest, None, "1")
        assert "images_shown" == refused.value.code
    contest.database.close()
