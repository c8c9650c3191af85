# SPDX-License-Identifier: Apache-2.0
"""A rehearsal through the whole chain: real servers, a real wire to the meter, the real client."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from power.energy.verdict import finding_to_json
from referee.service.evidence.judged_again import judge_bundle
from tests.e2e.conftest import Material, Rehearse
from tests.support.running import client, eventually, referee

pytestmark = pytest.mark.slow

STEPS = "0:3,1:8,3:5"
STEPS_WH_IN_4_S = (1 * 3 + 2 * 8 + 1 * 5) / 3600


def offline_map(truth: Path, detections: Path) -> float:
    """Return the mAP that `referee score` gives for the same files."""
    done = referee("score", "--ground-truth", str(truth), "--detections", str(detections), "--json")
    assert done.returncode == 0, done.stderr
    return float(json.loads(done.stdout)["mean_ap"])


def test_chain_gives_the_offline_map_and_the_profiles_energy(
    rehearse: Rehearse, material: Material
) -> None:
    """A session gets the files' offline score, and the energy of the load profile."""
    referee_ = rehearse("--seconds", "4", "--load", STEPS, "--update-interval", "0.25")
    client(referee_.contest, "--answers", str(material.answers), "--no-logout")
    row = referee_.scored()
    assert row["mean_ap"] == pytest.approx(
        offline_map(material.ground_truth, material.answers), abs=1e-12
    )
    assert row["energy_wh"] == pytest.approx(STEPS_WH_IN_4_S, rel=0.002)
    assert (row["verdict"], row["end_cause"]) == ("VALID", "deadline")
    assert row["score"] == row["mean_ap"] / row["energy_wh"]


def test_a_secret_order_changes_images_and_score(rehearse: Rehearse, material: Material) -> None:
    """A session with a secret order shows other images, and its score follows that order."""
    referee_ = rehearse("--seconds", "30", "--meter", "none", "--shuffle")
    said = client(referee_.contest, "--answers", str(material.answers))
    assert "12 of 12 images" in said
    # The client answers by number as if nothing were permuted, so its score must be bad.
    straight = offline_map(material.ground_truth, material.answers)
    assert referee_.scored()["mean_ap"] < straight / 2


def test_logout_ends_session_and_integration(rehearse: Rehearse, material: Material) -> None:
    """A logout ends the session, and the energy covers only the time until then."""
    referee_ = rehearse("--seconds", "30", "--load", "6", "--update-interval", "0.1")
    client(referee_.contest, "--answers", str(material.answers))
    row = referee_.scored()
    assert row["end_cause"] == "logout"
    current = referee_.board()["current"]
    assert current["images_fetched"] == 12
    assert referee_.board()["meter"]["reading"]["state"] == "STOP"
    assert 0 < row["energy_wh"] < 6 * 30 / 3600


def test_a_second_session_is_independent_of_the_first(
    rehearse: Rehearse, material: Material
) -> None:
    """In practice each login after an end starts a fresh session whose energy begins at zero."""
    referee_ = rehearse("--seconds", "2", "--load", "6", "--update-interval", "0.1")
    for number in (1, 2):
        client(referee_.contest, "--answers", str(material.answers), "--no-logout")
        assert referee_.scored(number)["energy_wh"] == pytest.approx(12 / 3600, rel=0.002)


def test_bundle_can_be_exported_while_the_session_runs(
    rehearse: Rehearse, material: Material, tmp_path: Path
) -> None:
    """A partial export holds everything known at that moment, with the hash of every member."""
    referee_ = rehearse("--seconds", "600", "--load", "6", "--update-interval", "0.25")
    client(referee_.contest, "--answers", str(material.answers), "--no-logout")
    bundle = tmp_path / "bundle.zip"
    command = ("export", "1", "--out", str(bundle), "--data", str(tmp_path / "data"))
    refused = referee(*command)
    assert (refused.returncode, bundle.exists()) == (1, False)
    assert "Session 1 of 'me' runs for another" in refused.stderr
    done = referee(*command, "--partial")
    assert done.returncode == 0, done.stderr
    assert "The bundle is not complete. Session 1 of 'me' runs for another" in done.stderr
    with zipfile.ZipFile(bundle) as members:
        session = json.loads(members.read("session.json"))
        rows = members.read("detections.csv").decode().splitlines()
        assert members.read("score.json") == b"null\n"
        assert set(json.loads(members.read("manifest.json"))["sha256"]) | {"manifest.json"} == set(
            members.namelist()
        )
    assert session["state"] == "RUNNING"
    assert len(rows) == len(json.loads(material.answers.read_text()))


def test_an_export_just_after_the_logout_waits_for_the_score(
    rehearse: Rehearse, material: Material, tmp_path: Path
) -> None:
    """The export right after a logout has the session's score and verdict."""
    referee_ = rehearse("--seconds", "600", "--load", "6", "--update-interval", "0.25")
    client(referee_.contest, "--answers", str(material.answers))
    bundle = tmp_path / "bundle.zip"
    done = referee("export", "1", "--out", str(bundle), "--data", str(tmp_path / "data"))
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(bundle) as members:
        score, verdict = (json.loads(members.read(f"{name}.json")) for name in ("score", "verdict"))
    assert score["mean_ap"] == pytest.approx(
        offline_map(material.ground_truth, material.answers), abs=1e-12
    )
    assert (score["verdict"], score["energy_wh"]) == (verdict["verdict"], verdict["energy_wh"])


def test_a_bundle_is_judged_again_without_the_referee(
    rehearse: Rehearse, material: Material, tmp_path: Path
) -> None:
    """Energy, verdict and findings of a measured session come from its zip alone.

    The zip says in each place that the meter was an emulator.
    """
    referee_ = rehearse("--seconds", "3", "--load", STEPS, "--update-interval", "0.25")
    client(referee_.contest, "--answers", str(material.answers), "--no-logout")
    bundle = tmp_path / "bundle.zip"
    done = referee("export", "1", "--out", str(bundle), "--data", str(tmp_path / "data"))
    assert done.returncode == 0, done.stderr
    assert "VALID (EMULATED meter: this is no official result)" in done.stderr
    again = judge_bundle(bundle)
    with zipfile.ZipFile(bundle) as members:
        told = {
            name: json.loads(members.read(f"{name}.json"))
            for name in ("session", "run", "verdict", "score")
        }
    verdict = told["verdict"]
    assert (again.verdict.value, again.energy_wh) == (verdict["verdict"], verdict["energy_wh"])
    assert (again.uncertainty_wh, again.cross_check_wh) == (
        verdict["uncertainty_wh"],
        verdict["cross_check_wh"],
    )
    assert [finding_to_json(finding) for finding in again.findings] == verdict["findings"]
    assert verdict["verdict"] == "VALID"
    assert {name: member["emulated"] for name, member in told.items()} == dict.fromkeys(told, True)


@pytest.mark.parametrize(
    ("detections", "mean_ap"),
    [
        ("detections_ssd_mobilenet_v1.json", 0.335107299485),
        ("detections_efficientdet_lite0.json", 0.448089373355),
    ],
)
def test_real_photographs_and_detectors(
    rehearse: Rehearse, shared_data: Path, detections: str, mean_ap: float
) -> None:
    """Real detectors' answers on real photographs reach their known mAP through the whole chain."""
    folder = shared_data / "coco-tiny"
    referee_ = rehearse(
        *("--seconds", "4", "--load", STEPS, "--update-interval", "0.25"),
        images=folder / "images",
        truth=folder / "annotations.json",
    )
    client(referee_.contest, "--answers", str(folder / detections), "--no-logout")
    row = referee_.scored()
    assert row["mean_ap"] == pytest.approx(mean_ap, abs=1e-9)
    assert row["energy_wh"] == pytest.approx(STEPS_WH_IN_4_S, rel=0.002)
    assert row["verdict"] == "VALID"


def test_live_score_moves_while_the_session_runs(rehearse: Rehearse, material: Material) -> None:
    """The live mAP reaches the final mAP while the session still runs."""
    referee_ = rehearse("--seconds", "600", "--meter", "none")
    client(referee_.contest, "--answers", str(material.answers), "--no-logout")
    expected = offline_map(material.ground_truth, material.answers)

    def arrived() -> bool:
        current = referee_.board()["current"]
        return bool(current["state"] == "RUNNING" and current["mean_ap"] == expected)

    assert eventually(arrived, "the live score to arrive")
