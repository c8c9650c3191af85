# SPDX-License-Identifier: Apache-2.0
"""Results made of entries, for tests of what shows them."""

from __future__ import annotations

from referee.service.event.result_entry import Results, TrackFigures
from referee.tracks.track import Figure

FIGURES = TrackFigures(Figure("mean_ap", "mAP"), Figure("score", "score", "mAP/Wh"))


def results_of(*entries, champions=()):
    """Return results of these entries."""
    return Results(
        contest="LPIRC",
        track="network",
        mode="event",
        seconds=600,
        images=8,
        figures=FIGURES,
        entries=entries,
        champions=champions,
    )
