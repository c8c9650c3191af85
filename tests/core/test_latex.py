# SPDX-License-Identifier: Apache-2.0
"""A text that somebody wrote is no command, no ligature and no other sign for LaTeX."""

from __future__ import annotations

import re
import string

import pytest

from referee.core.latex import WHOLE_MOST, LatexWriter

# A command with its braces, a sign in braces, or a sign behind a backslash.
WRITTEN = re.compile(r"\\texttt\{\\symbol\{34\}\}|\\[a-z]+\{\}|\{[\[*]\}|\\[&%$#_{}]|[^\\{}]")


@pytest.mark.parametrize("letter", string.punctuation)
def test_each_sign_of_ascii_is_one_sign(letter):
    """No sign reaches LaTeX as it is where it means something there."""
    written = LatexWriter().text(letter)
    assert WRITTEN.fullmatch(written)
    assert written != letter or letter in "!()+,-./:;=?@]"


@pytest.mark.parametrize("text", ["--", "---", ",,", "a--b"])
def test_two_signs_are_no_ligature(text):
    """A part stands between two signs that a font would join, as every engine needs it."""
    sign = text.strip("ab")[0]
    assert sign + r"\/" + sign in LatexWriter().text(text)
    assert text == LatexWriter().text(text).replace(r"\/", "")


def test_quotes_and_brackets_make_no_other_sign():
    """Two quotes are no curly one, and no `?` or `<<` becomes a sign of another language."""
    for text in ("``", "''", "?`", "!`", "<<", ">>"):
        written = LatexWriter().text(text)
        assert text not in written and "``" not in written


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Müller", r"M\"{u}ller"),
        ("naïve", r"na\"{\i}ve"),
        ("Łódź", r"\L{}\'{o}d\'{z}"),
        ("ș", r"\textcommabelow{s}"),
        ("u\u0308", r"\"{u}"),
        ("straße – ½", r"stra\ss{}e \textendash{} \textonehalf{}"),
        ("\u2068ants\u2069", "ants"),
        ("Tom\u200d", "Tom"),
        ("a\u00a0b\u2009c\n\nd", "a b c  d"),
    ],
)
def test_latin_letters_are_commands_of_every_encoding(text, written):
    """They need no encoding of the file, no font and no package."""
    writer = LatexWriter()
    assert (written, [], []) == (writer.text(text), writer.remarks(), writer.commands())


def test_letters_of_t1_are_told():
    """OT1 has no ogonek and no thorn, and LaTeX would stop at them."""
    for text in ("Sądecki", "Þór", "„ants“"):
        writer = LatexWriter()
        writer.text(text)
        assert [r"With pdfLaTeX it needs \usepackage[T1]{fontenc}."] == writer.remarks()


@pytest.mark.parametrize(
    ("text", "font"),
    [
        ("東京の蜂。", "Noto Sans CJK JP"),
        ("ﾊﾁ", "Noto Sans CJK JP"),
        ("벌", "Noto Sans CJK KR"),
        ("Пчёлы", "Noto Sans"),
        ("Ếch", "Noto Sans"),
        ("मधुमक्खी", "Noto Sans Devanagari"),
        ("ผึ้ง", "Noto Sans Thai"),
        ("🐝", "Symbola"),
    ],
)
def test_other_letters_name_a_font(text, font):
    """The letters stay as they are, in a command whose font the remark names."""
    writer = LatexWriter()
    assert rf"\resultsfont{{{font}}}{{" in writer.text(text)
    assert [f"Compile it with XeLaTeX, where the font {font} can be found."] == writer.remarks()
    assert 1 == len(writer.commands())


def test_a_name_from_right_to_left_is_whole():
    """It turns with the number in it, and what stands before it does not."""
    arabic = r"\resultsfont{Noto Sans Arabic}{نحل}"
    assert rf"\resultsright{{{arabic} 7}}" == LatexWriter().text("نحل 7")
    assert rf"by \resultsright{{{arabic}}} 7" == LatexWriter().text("by \u2068نحل\u2069 7")


def test_a_long_word_may_be_broken_without_a_hyphen():
    """A short one stays whole, and no letter is lost."""
    short, long = "w" * WHOLE_MOST, "w" * 40
    written = LatexWriter().text(f"{short} {long}")
    assert written.startswith(f"{short} ")
    assert f"{short} {long}" == written.replace(r"\allowbreak{}", "")
    assert max(map(len, re.findall("w+", written))) <= WHOLE_MOST
