# SPDX-License-Identifier: Apache-2.0
"""The charts of the results as figures of a paper: a PDF each, with its caption."""

from __future__ import annotations

from pathlib import Path

from power.logs.fonts import save_pdf
from referee.service.event.charts import (
    AGAINST_ENERGY,
    AGAINST_SPEED,
    PAPER,
    SIZE_IN,
    energy_figure,
    speed_figure,
)
from referee.service.event.result_entry import Results
from referee.service.event.results_table import state_line

_DRAWN = (
    ("accuracy-energy.pdf", AGAINST_ENERGY, energy_figure),
    ("accuracy-speed.pdf", AGAINST_SPEED, speed_figure),
)


def save_figures(results: Results, folder: Path) -> tuple[list[tuple[str, str]], list[str]]:
    """Write the PDFs into a folder that is there; return path and caption of each, and remarks.

    Remarks are on letters. Paths are relative to where LaTeX runs, as `folder` is given. Raises
    OSError for a file that cannot be written.
    """
    figures, remarks = [], []
    for name, title, draw in _DRAWN:
        remark = save_pdf(draw(results, PAPER, SIZE_IN), folder / name, title)
        remarks += [] if remark is None else [remark]
        caption = f"{results.contest}. {title} {state_line(results)}"
        figures.append(((folder / name).as_posix(), caption))
    return figures, remarks
