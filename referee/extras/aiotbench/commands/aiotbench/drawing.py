# SPDX-License-Identifier: Apache-2.0
"""Charts as files."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from referee.errors import InputError

_CHARTS = (".svg", ".png")


def require_chart(path: Path | None) -> None:
    """Raise InputError for a name that is no chart's, before the work begins."""
    if path is not None and path.suffix.lower() not in _CHARTS:
        raise InputError(f"{path} is no chart's name: let it end in .svg or .png")


def save_chart(draw: Callable[[], Any], path: Path) -> None:
    """Draw and write a chart; raise InputError without matplotlib, or if it cannot be written."""
    # The drawing library is slow to import, and only --chart needs it.
    from power.logs.plot import save_figure

    try:
        figure = draw()
    except ImportError:
        raise InputError("--chart needs matplotlib: pip install '.[plot]'") from None
    try:
        remark = save_figure(figure, path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None
    if remark is not None:
        print(f"referee aiotbench: {remark}", file=sys.stderr)
