# SPDX-License-Identifier: Apache-2.0
"""The table of columns is whole, and the documents name every figure."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.core.states import SessionFacts
from referee.service.event.columns import (
    COLUMNS,
    CSV_FIELDS,
    MARKS,
    On,
    columns_on,
    printed_entries,
    short_cells,
    shown_columns,
)
from referee.service.event.figures import Figures, StoredResult, figures_of
from referee.service.event.result_entry import PublicEntry, ResultEntry, TrackFigures
from referee.store.readings import EnergyRecord
from referee.tracks.loading import load_track

FEED = Path(__file__).parents[3] / "docs/feed.md"


def test_the_csv_has_its_columns_in_places_that_stay():
    """Scripts may count a CSV's columns: a new one stands behind those that there were."""
    assert list(range(1, len(CSV_FIELDS) + 1)) == sorted(it.csv for it in COLUMNS if it.csv)
    assert {*CSV_FIELDS} - {"score_text", MARKS} <= {*ResultEntry.__struct_fields__}
    assert (
        tuple(
            "rank team organisation session mean_ap energy_wh score score_low score_high "
            "images attempts verdict emulated normalized_accuracy objects_per_s withdrawn "
            "mean_power_w differs mean_power_uncertainty_w images_answered score_text marks "
            "team_id".split()
        )
        == CSV_FIELDS
    )


@pytest.mark.parametrize("surface", On)
def test_every_column_that_is_shown_has_head_words_and_cells(surface):
    """A page draws what the table says, so the table says all of it."""
    columns = columns_on(surface, ())
    assert {"rank", "mean_ap", "energy_wh", "score", "verdict"} <= {it.field for it in columns}
    assert all(it.head and it.words and it.printing for it in columns)


@pytest.mark.parametrize(
    ("score", "low", "high", "text"),
    [
        (10.82337, 8.95334, 12.69151, "10.8"),
        (10.82337, 10.81, 10.84, "10.823"),
        (1234.5, 1100.0, 1400.0, "1230"),
        (10.82337, None, None, "10.8"),
        (0.0, 0.0, 0.0, "0"),
        (1234.5, 100.0, 9900.0, "~1200"),
        (None, None, None, "–"),
    ],
)
def test_a_score_from_afar_has_the_digits_of_its_interval(score, low, high, text):
    """Two digits of half the width show; without an interval it has three digits."""
    entry = PublicEntry(team="ants", score=score, score_low=low, score_high=high)
    assert text == short_cells(entry)["score"]


def test_the_track_names_its_own_figures():
    """Accuracy and score have the track's labels, and the score its unit."""
    track = load_track("camera")
    heads = {
        one.field: (one.head, one.words)
        for one in shown_columns(On.CONSOLE, TrackFigures(track.accuracy, track.score), ())
    }
    assert track.accuracy.label == heads["mean_ap"][0]
    about = "~ is one that is too uncertain for more digits"
    said = f"accuracy per energy, in {track.score.unit}; {about}"
    assert heads["score"] == (track.score.label, said)


def test_the_feed_is_told_with_every_figure():
    """`docs/feed.md` names each field of a judgement."""
    (told,) = [line for line in FEED.read_text().splitlines() if "`judgements`" in line]
    missing = [name for name in Figures.__struct_fields__ if f"`{name}`" not in told]
    assert missing in ([], ["score"])  # The contest API itself has the score.


@pytest.mark.parametrize(
    ("energy_wh", "detail", "watts"),
    [
        (0.5, {"integration_s": 600.5}, 0.5 * 3600 / 600.5),
        (0.0, {"integration_s": 600.0}, 0.0),
        (None, {"integration_s": 600.0}, None),
        (0.5, {"integration_s": 0.0}, None),
        (0.5, {"integration_s": None}, None),
        (0.5, {}, None),
    ],
)
def test_the_mean_power_is_over_the_time_of_the_meter(energy_wh, detail, watts):
    """A device that draws nothing has 0 W; what the meter does not tell is not known."""
    energy = EnergyRecord(1, 1, "", energy_wh, None, "VALID", detail)
    found = figures_of(load_track("network"), StoredResult(SessionFacts(600.0), energy, None, 8))
    assert watts == found.mean_power_w


@pytest.mark.parametrize(
    ("detail", "printed"),
    [
        ({"integration_s": 4.0, "duration_s": 4.53, "duration_uncertainty_s": 0.001}, "5.000 5.00"),
        ({"integration_s": 4.0, "duration_s": 4.53, "duration_uncertainty_s": 0.02}, "5.00 5.00"),
        # An energy of 1.0 tells the meter's whole seconds, and how long the session was.
        (
            {"integration_s": 4.0, "session_s": 4.53, "facts": {"settings": {"timer_s": 600}}},
            "5.0 5.0",
        ),
        ({"integration_s": 600.0, "facts": {"settings": {"timer_s": 600}}}, "0.038 0.0378"),
    ],
)
def test_a_mean_power_has_the_digits_of_its_duration(detail, printed):
    """A session of 4.53 s at 5 W is not 5.66 W, and has no digit that nobody knows."""
    energy = EnergyRecord(1, 1, "", 5.0 * 4.53 / 3600, None, "VALID", detail)
    found = figures_of(load_track("network"), StoredResult(SessionFacts(600.0), energy, None, 8))
    entry = PublicEntry(team="ants", **found.values())
    (cells,) = printed_entries([entry])
    assert printed == f"{cells['mean_power_w']} {short_cells(entry)['mean_power_w']}"


def test_the_mean_power_stands_on_every_surface():
    """It is a column wherever the energy is one, and in the CSV behind those that there were."""
    for surface in On:
        fields = [it.field for it in columns_on(surface, ())]
        assert fields.index("mean_power_w") == 1 + fields.index("energy_wh")
    assert "mean_power_w" == CSV_FIELDS[16]
