# SPDX-License-Identifier: Apache-2.0
"""Names in a picture are drawn by the fonts that the machine has, or somebody is told."""

from __future__ import annotations

import logging
import threading
import warnings

import pytest

from power.logs.fonts import drawing, families, one_at_a_time, save_pdf, save_png, svg_of

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
    assert f"has {NOBODYS}." in remark and "fonts-noto-cjk" in remark
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


def test_an_svg_leaves_names_to_the_browser_without_a_word(recwarn):
    """A letter that no font of this machine has is text in the picture, and no warning in a log."""
    figure = figures.Figure()
    figure.suptitle(f"チーム {NOBODYS}", parse_math=False)
    assert "チーム" in svg_of(figure, style={}, title="a title").decode()
    assert [] == [str(it.message) for it in recwarn]


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
        assert remark is not None and remark.endswith("fonts-noto-cjk on Debian.")
    found = (tmp_path / "a.pdf").read_bytes()
    assert found == (tmp_path / "b.pdf").read_bytes()
    assert b"/Type3" not in found and b"/CIDFontType2" in found
    assert [] == caplog.record_tuples
