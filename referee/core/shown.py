# SPDX-License-Identifier: Apache-2.0
"""How a value of many rows is shown: a line in a console, a small table in a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST_ROWS = 10


class Shown:
    """A value that tells its `_facts` and not all of its arrays.

    A subclass gives `_facts`, and may give a table of `_rows` under `_columns`, of which a notebook
    shows the first. A dataclass must be made with `repr=False`.
    """

    def _facts(self) -> Mapping[str, object]:
        """Return what to show, by its name."""
        raise NotImplementedError

    def _columns(self) -> tuple[str, ...]:
        """Return the heads of the table; without any there is none."""
        return ()

    def _rows(self, most: int) -> tuple[Sequence[tuple[object, ...]], int]:
        """Return the first rows of the table, and how many there are."""
        return [], 0

    def __repr__(self) -> str:
        facts = ", ".join(f"{name}: {_text(value)}" for name, value in self._facts().items())
        return f"<{type(self).__name__} {facts}>"

    def _repr_html_(self) -> str:
        """Return the form that a notebook shows."""
        facts = _table(
            [(f"<th>{escape(name)}</th>", value) for name, value in self._facts().items()]
        )
        return f"<b>{type(self).__name__}</b>{facts}{self._first_rows()}"

    def _first_rows(self) -> str:
        columns = self._columns()
        if not columns:
            return ""
        rows, count = self._rows(_MOST_ROWS)
        heads = "".join(f"<th>{escape(name)}</th>" for name in columns)
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(_text(cell))}</td>' for cell in row)}</tr>" for row in rows
        )
        more = f"<p>and {count - len(rows)} more</p>" if count > len(rows) else ""
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{more}"


def distinct(ids: NDArray[Any]) -> int:
    """Return how many different ids there are."""
    return len(np.unique(ids))


def _table(rows: list[tuple[str, object]]) -> str:
    cells = "".join(f"<tr>{head}<td>{escape(_text(value))}</td></tr>" for head, value in rows)
    return f"<table><tbody>{cells}</tbody></table>"


def _text(value: object) -> str:
    if value is None:
        return "none"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
