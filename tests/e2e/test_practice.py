# SPDX-License-Identifier: Apache-2.0
"""A rehearsal through the whole chain: real servers, a real wire to the meter, the real client."""

from __future__ import annotations

import json
import zipfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from power.energy.duration import Duration, mean_power
from power.energy.verdict import finding_to_json
from referee.service.evidence.rejudge import judge_bundle
from referee.service.evidence.verify import verify_bundle
from tests.e2e.conftest import Material, Rehearse
from tests.support.running import (
    Program,
    client,
    eventually,
    kill_all,
    referee,
    running_as,
)

pytestmark = pytest.mark.slow

STEPS = "0:3,1:8,3:5"
FOUR_SECONDS = ("--seconds", "4", "--load", STEPS, "--update-interval", "0.25")
LONG = ("--seconds", "600", "--load", "6", "--update-interval", "0.25")
TRIES = 10
STEPS_WH_IN_4_S = (1 * 3 + 2 * 8 + 1 * 5) / 3600


@cache
def offline_map(truth: Path, detections: Path) -> float:
    """Return the mAP that `referee score` gives for the same files."""
    done = referee("score", "--ground-truth", str(truth), "--detections", str(detections), "--json")
    assert done.returncode == 0, done.stderr
    return float(json.loads(done.stdout)["mean_ap"])


def play(running: Program, answers: Path) -> dict[str, Any]:
    """Play a session to its deadline, with every answer in time, and return its row of the board.

    A busy machine may be too slow for a session of few seconds. Then the next one counts.
    """
    expected = len(json.loads(answers.read_text()))
    for _ in range(TRIES):
        client(running.contest, "--answers", str(answers), "--no-logout")
        row = running.scored()
        if running.lane()["current"]["detections"] == expected:
            return row
    raise AssertionError(f"no client could answer in time, {TRIES} times")


def test_chain_gives_the_offline_map_and_the_profiles_energy(
    standing: Rehearse, material: Material
) -> None:
    """A session gets the files' offline score, and the energy of the load profile."""
    row = play(standing(*FOUR_SECONDS), material.answers)
    assert row["mean_ap"] == pytest.approx(
        offline_map(material.ground_truth, material.answers), abs=1e-12
    )
    assert row["energy_wh"] == pytest.approx(STEPS_WH_IN_4_S, rel=0.002)
    assert (row["verdict"], row["end_cause"]) == ("VALID", "deadline")
    assert row["score"] == row["mean_ap"] / row["energy_wh"]


def test_a_secret_order_changes_images_and_score(rehearse: Rehearse, material: Material) -> None:
    """A session with a secret order shows other images, and its score follows that order."""
    referee_ = rehearse("--seconds", "600", "--meter", "none", "--shuffle")
    said = client(referee_.contest, "--answers", str(material.answers))
    assert "12 of 12 images" in said
    # The client answers by number as if nothing were permuted, so its score must be bad.
    straight = offline_map(material.ground_truth, material.answers)
    assert referee_.scored()["mean_ap"] < straight / 2


def test_logout_ends_session_and_integration(standing: Rehearse, material: Material) -> None:
    """A logout ends the session, and the energy covers only the time until then."""
    referee_ = standing(*LONG)
    client(referee_.contest, "--answers", str(material.answers))
    row = referee_.scored()
    assert row["end_cause"] == "logout"
    current = referee_.lane()["current"]
    assert current["images_fetched"] == 12
    assert referee_.lane()["meter"]["reading"]["state"] == "STOP"
    assert 0 < row["energy_wh"] < 6 * 600 / 3600


def test_a_second_session_is_independent_of_the_first(
    standing: Rehearse, material: Material
) -> None:
    """In practice each login after an end starts a fresh session whose energy begins at zero."""
    referee_ = standing(*FOUR_SECONDS)
    first, second = (play(referee_, material.answers) for _ in range(2))
    assert first["id"] < second["id"]
    for row in (first, second):
        assert row["energy_wh"] == pytest.approx(STEPS_WH_IN_4_S, rel=0.002)


def test_bundle_can_be_exported_while_the_session_runs(
    standing: Rehearse, material: Material, tmp_path: Path
) -> None:
    """A partial export holds everything known at that moment, with the hash of every member."""
    referee_ = standing(*LONG)
    client(referee_.contest, "--answers", str(material.answers), "--no-logout")
    bundle = tmp_path / "bundle.zip"
    number = str(referee_.newest())
    command = ("export", number, "--out", str(bundle), "--data", referee_.data)
    refused = referee(*command)
    assert (refused.returncode, bundle.exists()) == (1, False)
    assert f"Session {number} of 'me' runs for another" in refused.stderr
    done = referee(*command, "--partial")
    assert done.returncode == 0, done.stderr
    told = f"The bundle is not complete. Session {number} of 'me' runs for another"
    assert told in done.stderr
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
    standing: Rehearse, material: Material, tmp_path: Path
) -> None:
    """The export right after a logout has the session's score and verdict."""
    referee_ = standing(*LONG)
    client(referee_.contest, "--answers", str(material.answers))
    bundle = tmp_path / "bundle.zip"
    number = str(referee_.newest())
    done = referee("export", number, "--out", str(bundle), "--data", referee_.data)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(bundle) as members:
        score, verdict = (json.loads(members.read(f"{name}.json")) for name in ("score", "verdict"))
    assert score["mean_ap"] == pytest.approx(
        offline_map(material.ground_truth, material.answers), abs=1e-12
    )
    assert (score["verdict"], score["energy_wh"]) == (verdict["verdict"], verdict["energy_wh"])


def reading_of(program: Program) -> Any:
    """Return the desk's newest reading, None while there is no desk or it has none."""
    with suppress(OSError):
        return program.lane()["meter"]["reading"]
    return None


def test_a_logout_leaves_the_mean_power_of_the_load(
    standing: Rehearse, material: Material, tmp_path: Path
) -> None:
    """The energy of a steady 6 W is divided by the time between START and STOP, not by TIME.

    A desk that was killed meanwhile goes on and stops the meter itself. The bundle holds.
    """
    referee_ = standing(*LONG)
    for killed in (False, True):
        client(referee_.contest, "--answers", str(material.answers), "--no-logout")
        number = referee_.newest()
        if killed:
            kill_all(running_as("desk", referee_.child.pid))
            eventually(lambda: reading_of(referee_), "the next desk's first reading")
        client(referee_.contest, "--answers", str(material.answers))
        referee_.scored(number)
        bundle = tmp_path / f"bundle{number}.zip"
        done = referee("export", str(number), "--out", str(bundle), "--data", referee_.data)
        assert done.returncode == 0, done.stderr
        with zipfile.ZipFile(bundle) as members:
            verdict = json.loads(members.read("verdict.json"))
        lasted = Duration(verdict["duration_s"], verdict["duration_uncertainty_s"])
        mean_w, off_w = mean_power(verdict["energy_wh"], lasted)
        assert mean_w is not None and off_w is not None
        assert verdict["integration_s"] <= lasted.high_s <= verdict["integration_s"] + 1.0
        assert abs(mean_w - 6.0) <= off_w + 6e-4 < 0.3
        key = Path(referee_.data) / "signing.pub"
        assert [] == verify_bundle(bundle, material.ground_truth, public_keys=[key], shadow=True)


def test_a_bundle_is_judged_again_without_the_referee(
    standing: Rehearse, material: Material, tmp_path: Path
) -> None:
    """Energy, verdict and findings of a measured session come from its zip alone.

    The zip says in each place that the meter was an emulator.
    """
    referee_ = standing(*FOUR_SECONDS)
    number = str(play(referee_, material.answers)["id"])
    bundle = tmp_path / "bundle.zip"
    done = referee("export", number, "--out", str(bundle), "--data", referee_.data)
    assert done.returncode == 0, done.stderr
    assert "VALID (EMULATED meter: this is no official result)" in done.stderr
    key = Path(referee_.data) / "signing.pub"
    assert [] == verify_bundle(bundle, material.ground_truth, public_keys=[key], shadow=True)
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
    standing: Rehearse, shared_data: Path, detections: str, mean_ap: float
) -> None:
    """Real detectors' answers on real photographs reach their known mAP through the whole chain."""
    folder = shared_data / "coco-tiny"
    referee_ = standing(*LONG, images=folder / "images", truth=folder / "annotations.json")
    client(referee_.contest, "--answers", str(folder / detections))
    row = referee_.scored()
    assert row["mean_ap"] == pytest.approx(mean_ap, abs=1e-9)
    assert row["score"] == row["mean_ap"] / row["energy_wh"]


def test_live_score_moves_while_the_session_runs(standing: Rehearse, material: Material) -> None:
    """The live mAP reaches the final mAP while the session still runs."""
    referee_ = standing(*LONG)
    client(referee_.contest, "--answers", str(material.answers), "--no-logout")
    expected = offline_map(material.ground_truth, material.answers)

    def arrived() -> bool:
        current = referee_.lane()["current"]
        return bool(current["state"] == "RUNNING" and current["mean_ap"] == expected)

    assert eventually(arrived, "the live score to arrive")
