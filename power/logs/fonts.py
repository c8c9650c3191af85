# SPDX-License-Identifier: Apache-2.0
"""How figures are written, with names in any script.

PNG and PDF draw them by the fonts that this machine has. In an SVG text stays text, and the browser
finds the fonts.
"""

from __future__ import annotations

import io
import logging
import threading
import unicodedata
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# What Linux, macOS and Windows bring. A font of one language draws the others' common letters.
_CANDIDATES = tuple(
    "Noto Sans CJK JP, Noto Sans CJK SC, Noto Sans JP, Noto Sans SC, IPAGothic, "
    "IPAPGothic, IPAexGothic, WenQuanYi Micro Hei, WenQuanYi Zen Hei, "
    "Droid Sans Fallback, Noto Sans KR, Malgun Gothic, Hiragino Sans, PingFang SC, "
    "Arial Unicode MS, Apple SD Gothic Neo, Yu Gothic, MS Gothic, Microsoft YaHei, SimHei".split(
        ", "
    )
)
_USUAL = "DejaVu Sans"
_SHOWN_MOST = 10
_ALONE = threading.RLock()
_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")


def families(there: Collection[str]) -> list[str]:
    """Return the fonts to look for a letter in, in this order, of those that are there.

    matplotlib's own font comes first, so pictures without such letters stay as they are.
    """
    return [_USUAL, *(name for name in _CANDIDATES if name in there)]


def one_at_a_time(draw: Callable[_Given, _Made]) -> Callable[_Given, _Made]:
    """Let one thread at a time run a function that draws a whole figure.

    Each part of a figure may look at matplotlib's settings, and those are the process's.
    """

    @wraps(draw)
    def drawn_alone(*args: _Given.args, **kwargs: _Given.kwargs) -> _Made:
        with _ALONE:
            return draw(*args, **kwargs)

    return drawn_alone


@contextmanager
def drawing(style: Mapping[str, object]) -> Iterator[None]:
    """Draw by these settings of matplotlib, while no other thread draws.

    The warning of a letter that matplotlib's own font lacks is off from here on, in the whole
    process. Whoever needs the letter finds it in the browser's fonts, or `_remark` tells of it.
    """
    import matplotlib

    settings: Any = style
    with _ALONE, matplotlib.rc_context(settings):
        # `warnings.catch_warnings` is no way: another thread that uses it ends this one's filter.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        yield


def svg_of(figure: Figure, *, style: Mapping[str, object], title: str | None = None) -> bytes:
    """Return a figure as SVG without a date, so equal figures have equal bytes; blanks stay.

    `style` are settings of matplotlib, and `title` is for those who do not see the figure.
    """
    file = io.BytesIO()
    named = {} if title is None else {"Title": title}
    with drawing({"svg.fonttype": "none", **style}):
        figure.savefig(file, format="svg", metadata={"Date": None, **named})
    # Without it a viewer makes one blank of two, and a name loses one.
    return file.getvalue().replace(b"<text ", b'<text xml:space="preserve" ')


def save_png(figure: Figure, path: Path, dots_per_inch: int) -> str | None:
    """Write a figure as PNG; return a remark on letters that no font of this machine has."""
    return _saved(figure, path, format="png", dpi=dots_per_inch)


def save_pdf(figure: Figure, path: Path, title: str) -> str | None:
    """Write a figure as PDF without a date, so equal figures have equal bytes.

    Returns a remark on letters that no font of this machine has.
    """
    # It tells each step of cutting out the letters that a figure has.
    logging.getLogger("fontTools").setLevel(logging.WARNING)
    # Type 42: publishers refuse fonts of type 3, matplotlib's default.
    with drawing({"pdf.fonttype": 42}):
        return _saved(figure, path, format="pdf", metadata={"CreationDate": None, "Title": title})


def _saved(figure: Figure, path: Path, **form: Any) -> str | None:
    from matplotlib.text import Text

    texts = figure.findobj(Text)
    letters = {letter for text in texts for letter in text.get_text() if letter > "\x7f"}
    fonts = fonts_for(letters)
    for text in texts:
        text.set_fontfamily(fonts)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        figure.savefig(path, **form)
    codes = sorted(
        {
            int(str(warning.message).split()[1])
            for warning in caught
            if _is_glyph(str(warning.message))
        }
    )
    missing = "".join(letter for letter in map(chr, codes) if _shows(letter))
    return _remark(path, missing) if missing else None


def fonts_for(letters: Collection[str]) -> list[str]:
    """Return the fonts to look for these letters in, in this order.

    Behind the usual ones stand others of this machine that have a letter which these lack.
    matplotlib keeps a list of fonts from its first run, so a letter that none of them has is looked
    for in the fonts that were installed since.
    """
    from matplotlib import font_manager

    manager = font_manager.fontManager
    found = families({font.name for font in manager.ttflist})
    lacking = {letter for letter in letters if _shows(letter)}
    lacking -= _letters_of([font.fname for font in manager.ttflist if font.name in found])
    if lacking:
        lacking = _add(found, lacking)
    if lacking:
        known = {font.fname for font in manager.ttflist}
        for fresh in sorted(set(font_manager.findSystemFonts()) - known):
            with suppress(Exception):  # A font may be damaged, or of a kind that is not drawn.
                manager.addfont(fresh)
        _add(found, lacking)
    return found


def _add(found: list[str], lacking: set[str]) -> set[str]:
    """Add the fonts that have lacking letters, plain and regular ones first; return the rest."""
    from matplotlib.font_manager import fontManager

    plain = sorted(
        (
            font
            for font in fontManager.ttflist
            # The last resort has a box for every letter there is.
            if font.style == "normal" and not font.name.startswith("Last Resort")
        ),
        key=lambda font: (font.weight != 400, "Sans" not in font.name, font.name),
    )
    for font in plain:
        if not lacking:
            break
        has = lacking & _letters_of([font.fname])
        if has and font.name not in found:
            found.append(font.name)
            lacking = lacking - has
    return lacking


def _letters_of(paths: Collection[str]) -> set[str]:
    return {letter for path in paths for letter in _letters_in(path)}


@lru_cache(maxsize=512)
def _letters_in(path: str) -> frozenset[str]:
    """Return the letters that a font has; none of one that matplotlib cannot draw from."""
    from matplotlib.font_manager import get_font

    try:
        return frozenset(map(chr, get_font(path).get_charmap()))
    except (OSError, RuntimeError, ValueError):
        return frozenset()


def _shows(letter: str) -> bool:
    """Return whether a letter needs a font: joiners, isolates and variants of a sign need none."""
    return unicodedata.category(letter) != "Cf" and not "\ufe00" <= letter <= "\ufe0f"


def _is_glyph(message: str) -> bool:
    return message.startswith("Glyph ") and " missing from" in message


def _remark(path: Path, letters: str) -> str:
    other = ", or write FILE.svg, which a browser draws" if path.suffix == ".png" else ""
    more = "…" if len(letters) > _SHOWN_MOST else ""
    packages = " and ".join(dict.fromkeys(map(_package, letters)))
    return (
        f"{path} has empty boxes: no font that was found has {letters[:_SHOWN_MOST]}{more}. "
        f"Install one, such as {packages} on Debian, and run the command again{other}."
    )


def _package(letter: str) -> str:
    """Return the package that has a letter. A font of pictures in colour is of no use here."""
    if unicodedata.category(letter) in ("So", "Sk"):
        return "fonts-symbola"
    wide = unicodedata.east_asian_width(letter) in ("W", "F")
    return "fonts-noto-cjk" if wide else "fonts-noto-core"
