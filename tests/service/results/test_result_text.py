# SPDX-License-Identifier: Apache-2.0
"""A result is printed to its meaningful digits, with its verdict."""

from __future__ import annotations

import pytest

from referee.service.results.result_text import result_line, result_text
from referee.store.scores import ScoringRun
from referee.tracks.network import TRACK


def run(mean_ap=0.335, energy_wh=0.5, uncertainty_wh=0.0011, verdict="VALID", **more):
    """Return a scoring run with this energy."""
    score = None if energy_wh is None or verdict == "INVALID" else mean_ap / energy_wh
    detail = {
        "session": 3,
        "team": "ants",
        "images": 80,
        "images_fetched": 12,
        "detections": 7,
        "ignored": {"unknown_image": 2, "blacklisted": 0},
        "energy_wh": energy_wh,
        "uncertainty_wh": uncertainty_wh,
        "verdict": verdict,
        "reasons": [],
    }
    return ScoringRun(1, 1, mean_ap, score, detail | more)


@pytest.mark.parametrize(
    ("energy_wh", "uncertainty_wh", "expected"),
    [
        (0.5, 0.0011, "0.6700 ± 0.0015 mAP/Wh"),
        (0.000418882, 0.00002, "800 ± 38 mAP/Wh"),
        (0.000418882, 0.0002, "~800 ± 490 mAP/Wh (too uncertain for more digits)"),
        (0.000418882, 0.05, "800 mAP/Wh"),
        (0.000418882, None, "800 mAP/Wh"),
        (0.5, None, "0.670 mAP/Wh"),
        (0.5, 0.0, "0.670 mAP/Wh"),
        (0.00027, None, "1240 mAP/Wh"),
    ],
)
def test_digits_of_a_score_are_those_that_the_energy_gives(energy_wh, uncertainty_wh, expected):
    """A score shows two uncertain digits, or three digits where its uncertainty is unknown."""
    assert result_line(run(energy_wh=energy_wh, uncertainty_wh=uncertainty_wh), TRACK).startswith(
        f"{expected}, "
    )


def test_energy_has_the_digits_of_its_uncertainty():
    """Energy and uncertainty are shown to the same decimal."""
    assert "  energy      0.5000 ± 0.0011 Wh" in result_text(run(), TRACK).splitlines()


@pytest.mark.parametrize(
    ("uncertainty_wh", "expected"),
    # A session of 0.2 s, whose score was printed as 799.748296.
    [(1e-6, "800"), (0.0002, "800"), (0.5, "800"), (None, "800")],
)
def test_a_doubtful_score_has_three_digits_at_most(uncertainty_wh, expected):
    """A doubtful score has at most three digits: no table of accuracy covers a SUSPECT energy."""
    suspect = run(energy_wh=0.000418882, uncertainty_wh=uncertainty_wh, verdict="SUSPECT")
    assert f"{expected} mAP/Wh, SUSPECT" == result_line(suspect, TRACK)
    lines = result_text(suspect, TRACK).splitlines()
    assert f"  score       {expected} mAP/Wh, SUSPECT" == lines[-1]
    assert "±" not in result_text(suspect, TRACK)


@pytest.mark.parametrize(
    ("verdict", "line"),
    [
        ("VALID", "  score       0.6700 ± 0.0015 mAP/Wh"),
        ("SUSPECT", "  score       0.670 mAP/Wh, SUSPECT"),
        ("INVALID", "  score       none"),
    ],
)
def test_a_doubtful_score_says_so_beside_it(verdict, line):
    """SUSPECT stands beside the number, so that nobody takes the number alone."""
    assert line == result_text(run(verdict=verdict), TRACK).splitlines()[-1]


def test_a_result_of_the_emulated_meter_says_so():
    """EMULATED stands beside the verdict; a real meter's result does not mention it."""
    emulated = result_text(run(emulated=True), TRACK)
    assert "  verdict     VALID (EMULATED meter: this is no official result)" in emulated
    assert "EMULATED" in result_line(run(emulated=True), TRACK)
    assert "EMULATED" not in result_text(run(emulated=False), TRACK) + result_text(run(), TRACK)


def test_lines_tell_counts_and_reasons():
    """Images, detections, ignored rows and each reason of the verdict have their lines."""
    text = result_text(run(None, None, None, "INVALID", reasons=["It fell.", "It broke."]), TRACK)
    assert text.splitlines() == [
        "Session 3 of 'ants'",
        "  images      12 of 80",
        "  detections  7, ignored: 2 (image not in the ground truth)",
        "  mAP         none",
        "  energy      none",
        "  verdict     INVALID",
        "              It fell.",
        "              It broke.",
        "  score       none",
    ]


def test_a_track_without_detections_has_no_line_of_them():
    """A track that counts something else has the lines that every track shares."""
    other = run()
    for name in ("images", "detections", "ignored"):
        other.detail.pop(name)
    assert result_text(other, TRACK).splitlines()[1:3] == [
        "  images      12",
        "  mAP         0.335000",
    ]


TOLD = {
    "level": 0.95,
    "mean_ap": [0.3012, 0.3714],
    "score": [0.6021, 0.7433],
    "score_from_images": [0.6024, 0.7428],
    "score_from_energy": [0.6686, 0.6715],
}


def test_a_score_with_an_interval_tells_each_part_of_it():
    """Images and energy have their own lines, and the score the digits that both leave it."""
    lines = result_text(run(uncertainty=TOLD), TRACK).splitlines()
    assert lines[-5:] == [
        "  score       0.670 mAP/Wh",
        "              mAP, 95 % interval: 0.301 to 0.371",
        "              score, 95 % interval: 0.602 to 0.743",
        "              from the images alone: 0.602 to 0.743",
        "              from the energy alone: 0.6686 to 0.6715",
    ]


def test_a_doubtful_energy_gives_the_score_no_interval():
    """A SUSPECT energy has no guaranteed error, so mAP alone has an interval."""
    lines = result_text(run(verdict="SUSPECT", uncertainty=TOLD), TRACK).splitlines()
    assert lines[-2:] == [
        "  score       0.670 mAP/Wh, SUSPECT",
        "              mAP, 95 % interval: 0.301 to 0.371",
    ]
