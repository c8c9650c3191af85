# SPDX-License-Identifier: Apache-2.0
"""Names in a picture are drawn by the fonts that the machine has, or somebody is told."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
import threading
import warnings

import pytest

from power.logs.fonts import (
    _letters_in,
    _package,
    drawing,
    families,
    fonts_for,
    one_at_a_time,
    save_pdf,
    save_png,
    svg_of,
)

figures = pytest.importorskip("matplotlib.figure", reason="needs the extra [event]")
# A letter that no font has: it is assigned to nobody.
NOBODYS = chr(0x10FFF0)


def test_fonts_of_this_machine_come_behind_the_usual_one():
    """Of the candidates those that are there count, in their order; others are left alone."""
    assert ["DejaVu Sans"] == families({"Comic Sans MS"})
    there = {"SimHei", "IPAGothic", "Comic Sans MS"}
    assert ["DejaVu Sans", "IPAGothic", "SimHei"] == families(there)


def test_letters_without_a_font_are_told_in_one_line(tmp_path):
    """The picture is written, and one remark names what is missing and the way out."""
    figure = figures.Figure()
    figure.suptitle(f"ants {NOBODYS}{NOBODYS}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        remark = save_png(figure, tmp_path / "a.png", 50)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert remark is not None and "\n" not in remark
    assert f"has {NOBODYS}." in remark and "fonts-noto-core" in remark
    plain = figures.Figure()
    plain.suptitle("ants")
    assert save_png(plain, tmp_path / "b.png", 50) is None


def test_a_japanese_name_is_drawn_where_a_font_has_it(tmp_path):
    """With one of the candidates on this machine no letter is missing."""
    manager = pytest.importorskip("matplotlib.font_manager").fontManager
    if len(families({font.name for font in manager.ttflist})) == 1:
        pytest.skip("needs a Japanese or Chinese font, such as fonts-noto-cjk")
    figure = figures.Figure()
    axes = figure.subplots()
    axes.set_yticks([0, 1], ["日本", "ants"], parse_math=False)
    assert save_png(figure, tmp_path / "a.png", 50) is None


def _only_font(monkeypatch, *fonts):
    """Let matplotlib's kept list have these fonts alone."""
    manager = pytest.importorskip("matplotlib.font_manager").fontManager
    monkeypatch.setattr(manager, "ttflist", list(fonts))
    return manager


def _font_with(letter):
    manager = pytest.importorskip("matplotlib.font_manager").fontManager
    usual = [one for one in manager.ttflist if one.name == "DejaVu Sans" and one.weight == 400]
    others = (one for one in manager.ttflist if not one.name.startswith("Last Resort"))
    found = next((one for one in others if letter in _letters_in(one.fname)), None)
    if found is None:
        pytest.skip(f"needs a font that has {letter}, such as those of fonts-noto-core")
    return usual[:1], found


def test_a_font_of_any_script_is_found_by_its_letters(monkeypatch):
    """A font that is in no list of names is used, because it has the letter."""
    usual, thai = _font_with("ที"[0])
    _only_font(monkeypatch, *usual, thai)
    assert ["DejaVu Sans", thai.name] == fonts_for({"é", "ที"[0]})
    assert ["DejaVu Sans"] == fonts_for({"é"})


def test_a_font_that_was_installed_since_the_first_run_is_found(monkeypatch):
    """The advice to install one works at once, though matplotlib keeps its list of fonts."""
    usual, thai = _font_with("ที"[0])
    _only_font(monkeypatch, *usual)
    monkeypatch.setattr("matplotlib.font_manager.findSystemFonts", lambda: [thai.fname])
    assert ["DejaVu Sans", thai.name] == fonts_for({"ที"[0]})


@pytest.mark.parametrize(
    ("letter", "package"),
    [
        ("チ", "fonts-noto-cjk"),
        ("한", "fonts-noto-cjk"),
        ("ف", "fonts-noto-core"),
        ("🚀", "fonts-symbola"),
    ],
)
def test_the_advice_names_a_package_that_has_the_letter(letter, package):
    """A font of pictures in colour is not named: matplotlib cannot draw from it."""
    assert package == _package(letter)


def test_isolates_and_joiners_need_no_font(tmp_path):
    """What nobody sees is never told as missing."""
    figure = figures.Figure()
    figure.text(0.1, 0.5, "\u2068a\u200cb\u2069", parse_math=False)
    assert save_png(figure, tmp_path / "a.png", 50) is None


def test_an_svg_leaves_names_to_the_browser_without_a_word(recwarn):
    """A letter that no font of this machine has is text in the picture, and no warning in a log."""
    figure = figures.Figure()
    figure.suptitle(f"チーム {NOBODYS}", parse_math=False)
    assert "チーム" in svg_of(figure, style={}, title="a title").decode()
    assert [] == [str(it.message) for it in recwarn]


def test_an_svg_keeps_the_blanks_of_a_name():
    """Two blanks are no single one, whoever draws the picture."""
    figure = figures.Figure()
    figure.suptitle("two  blanks <text ", parse_math=False)
    (text,) = re.findall("<text[^>]*>[^<]*", svg_of(figure, style={}).decode())
    assert ' xml:space="preserve"' in text and text.endswith(">two  blanks &lt;text ")


def test_threads_draw_by_their_own_settings_whatever_becomes_of_the_warnings():
    """Neither another thread's settings nor its `catch_warnings` reaches into a drawing."""
    ended = threading.Event()
    plain, other = ({"svg.hashsalt": "a", "font.size": size} for size in (10.0, 30.0))

    @one_at_a_time
    def drawn(style):
        figure = figures.Figure(figsize=(2, 1))
        with drawing(style):
            axes = figure.add_axes((0.3, 0.3, 0.6, 0.6))
        axes.set_title(NOBODYS)
        return svg_of(figure, style=style)

    def disturb():
        while not ended.is_set():
            with warnings.catch_warnings():
                warnings.simplefilter("error", DeprecationWarning)
                drawn(other)

    expected = drawn(plain)
    thread = threading.Thread(target=disturb, name="disturber")
    thread.start()
    try:
        assert {expected} == {drawn(plain) for _ in range(20)}
    finally:
        ended.set()
        thread.join()


def test_a_pdf_has_the_same_bytes_again_and_no_font_of_type_3(tmp_path, caplog):
    """Publishers refuse fonts of type 3; a letter without a font is told here, and nothing else."""
    caplog.set_level(logging.INFO)
    for name in ("a.pdf", "b.pdf"):
        figure = figures.Figure()
        figure.suptitle(f"ants {NOBODYS}")
        remark = save_pdf(figure, tmp_path / name, "Ants")
        assert remark is not None and "fonts-noto-core on Debian" in remark
    found = (tmp_path / "a.pdf").read_bytes()
    assert found == (tmp_path / "b.pdf").read_bytes()
    assert b"/Type3" not in found and b"/CIDFontType2" in found
    assert [] == caplog.record_tuples


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "words"), [("referee.cli", ["--help"]), ("power.cli", ["emulate", "--commands"])]
)
def test_matplotlib_says_nothing_on_the_terminal(module, words, tmp_path):
    """A list of fonts that is made anew, and a folder that nobody may write, are no news."""
    code = f"""
import {module}, sys
try:
    {module}.main({words})
except SystemExit:
    pass
import logging, matplotlib.font_manager
logging.getLogger("matplotlib.font_manager").warning("findfont: no such family")
matplotlib.font_manager.findfont("No Such Family")
"""
    (tmp_path / "file").touch()
    surroundings = os.environ | {"MPLCONFIGDIR": str(tmp_path / "file" / "below")}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=surroundings, check=True
    )
    assert "" == done.stderr
