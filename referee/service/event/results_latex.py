# SPDX-License-Identifier: Apache-2.0
"""The results as tables for LaTeX, which are never wider than the place that they get.

Numbers take the width that they need, and texts share what is left, so long names wrap.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

from referee.core.latex import PIECE, WHOLE_MOST, LatexWriter
from referee.core.text_cells import columns_of
from referee.service.event.columns import On, about_line, columns_on, head_of, printed_entries
from referee.service.event.result_entry import Results
from referee.service.event.results_table import guest_tables, state_line


class TableSpan(StrEnum):
    """The place of a table."""

    COLUMN = "column"
    PAGE = "page"
    """All columns of a page with several."""
    LANDSCAPE = "landscape"
    """A page of its own, on its side."""


_ENVIRONMENTS = {
    TableSpan.COLUMN: "table",
    TableSpan.PAGE: "table*",
    TableSpan.LANDSCAPE: "sidewaystable*",
}
_FREE_LENGTH = r"\ifdefined\resultsfree\else\newlength{\resultsfree}\fi"
# A text gets its longest word, and what is left by its length; a very long one wraps all the same.
_LONG = 24
# The widths of letters in em, of TeX's fonts and of wider ones.
_WIDE, _WIDE_EM, _CAPITAL_EM, _USUAL_EM = "WMmw@%", 1.05, 0.8, 0.55


def results_latex(
    results: Results, span: TableSpan = TableSpan.COLUMN, figures: Sequence[tuple[str, str]] = ()
) -> str:
    """Return the ranking as a LaTeX table, those of guests after it, and figures.

    The first lines are comments and say what the document needs.
    """
    return latex_with_needs(results, span, figures)[0]


def latex_with_needs(
    results: Results, span: TableSpan, figures: Sequence[tuple[str, str]]
) -> tuple[str, list[str]]:
    """Return the tables and figures, and what a document needs for them, in sentences.

    A figure is a path for LaTeX and a caption.
    """
    writer = LatexWriter()
    columns = columns_on(On.LATEX, results.entries)
    heads = [_title(head_of(column, results.figures)) for column in columns]
    rows = [[row[column.field] for column in columns] for row in printed_entries(results.entries)]
    caption = f"{results.contest}: rankings and results. Energy is measured in watt-hour. "
    state = " ".join(filter(None, [state_line(results), about_line(results.entries)]))
    is_text = [column.left for column in columns]
    made = [_table(writer, span, is_text, [heads, *rows], caption + state)]
    for table in guest_tables(results):
        said = " ".join([f"{results.contest}: {table.title}.", *table.notes, state])
        is_text = [not column.form for column in table.columns]
        lines = [[*map(_title, table.heads)], *table.printed()]
        made.append(_table(writer, span, is_text, lines, said))
    made += [_figure(writer, path, caption) for path, caption in figures]
    needs = writer.remarks()
    if span is TableSpan.LANDSCAPE:
        needs.append(r"It needs \usepackage{rotating}.")
    if figures:
        needs.append(r"Its figures need \usepackage{graphicx}.")
    head = [*(f"% {need}" for need in needs), *writer.commands(), _FREE_LENGTH]
    return "\n".join([*head, *made]), needs


def _title(head: str) -> str:
    """Return a head with a capital; 'mAP' and 'Wh' have theirs."""
    return head.capitalize() if head.islower() else head


def _figure(writer: LatexWriter, path: str, caption: str) -> str:
    lines = [
        r"\begin{figure}",
        rf"\includegraphics[width=\linewidth]{{{path}}}",
        rf"\caption{{{writer.text(caption)}}}",
        r"\end{figure}",
        "",
    ]
    return "\n".join(lines)


def _table(
    writer: LatexWriter,
    span: TableSpan,
    is_text: Sequence[bool],
    rows: Sequence[Sequence[str]],
    caption: str,
) -> str:
    """Return a table; its first row has the heads."""
    cells = [list(column) for column in zip(*rows, strict=True)]
    widest = [max(column, key=_em) for column, text in zip(cells, is_text, strict=True) if not text]
    words = [max(map(_word_em, column)) * text for column, text in zip(cells, is_text, strict=True)]
    environment = _ENVIRONMENTS[span]
    head, *body = (_row(writer, row, is_text) for row in rows)
    lines = [
        rf"\begin{{{environment}}}",
        # A name has no hyphens but its own.
        r"\footnotesize\hyphenpenalty=10000 \setlength{\tabcolsep}{3pt}",
        rf"\settowidth{{\resultsfree}}{{{''.join(map(writer.text, widest))}}}",
        r"\setlength{\resultsfree}{\dimexpr\linewidth-\resultsfree"
        rf"-{2 * len(is_text)}\tabcolsep-{sum(words):.2f}em\relax}}",
        rf"\begin{{tabular}}{{{_sides(cells, is_text, words)}}}",
        head,
        r"\hline",
        *body,
        r"\end{tabular}",
        rf"\caption{{{writer.text(caption)}}}",
        rf"\end{{{environment}}}",
        "",
    ]
    return "\n".join(lines)


def _sides(cells: Sequence[Sequence[str]], is_text: Sequence[bool], words: Sequence[float]) -> str:
    """Return the kinds of the columns: numbers to the right, and texts that share what is left."""
    lengths = [
        min(_LONG, max(map(columns_of, column))) * text
        for column, text in zip(cells, is_text, strict=True)
    ]
    return "".join(
        rf"p{{\dimexpr{word:.2f}em+{length / sum(lengths):.3f}\resultsfree\relax}}" if text else "r"
        for length, word, text in zip(lengths, words, is_text, strict=True)
    )


def _row(writer: LatexWriter, cells: Sequence[str], is_text: Sequence[bool]) -> str:
    written = (
        (r"\raggedright " if text else "") + writer.text(cell)
        for cell, text in zip(cells, is_text, strict=True)
    )
    return " & ".join(written) + r" \tabularnewline"


def _word_em(text: str) -> float:
    """Return about how wide the longest part of a text is that stays on one line."""
    return max(map(_piece_em, re.split(r"\s", text)))


def _piece_em(word: str) -> float:
    if columns_of(word) > len(word):  # Ideographs, between which a line may end.
        return 2 * _WIDE_EM
    return _em(word if len(word) <= WHOLE_MOST else word[:PIECE])


def _em(text: str) -> float:
    """Return about how wide a text is."""
    wide = sum(character in _WIDE for character in text)
    capitals = sum(character.isupper() and character not in _WIDE for character in text)
    others = columns_of(text) - wide - capitals
    return _WIDE_EM * wide + _CAPITAL_EM * capitals + _USUAL_EM * others
