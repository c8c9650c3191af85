# SPDX-License-Identifier: Apache-2.0
"""A text that LaTeX prints letter by letter, in any font encoding, and what it needs for that.

Nothing in the text is a command, a ligature or a sign of another meaning. Letters with one accent
are commands, so they need no input encoding. Letters that TeX's own fonts lack stand in a command
that names a font with these letters, which XeLaTeX finds by its name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import groupby

from referee.core.written_text import JOINERS

_ASCII = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # In OT1 these three print as other signs.
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # The quotes would be curly. OT1 has a straight double one in its typewriter font alone.
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    '"': r"\texttt{\symbol{34}}",
    # Behind the end of a row these would be its options.
    "[": "{[}",
    "*": "{*}",
}
# Two of one kind would be a ligature; the italic correction parts them in every engine.
_LIGATURES, _APART = "-,<>", r"\/"

_ACCENTS = {
    **{"\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u"},
    **{"\u0307": ".", "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v"},
    **{"\u0323": "d", "\u0326": "textcommabelow", "\u0327": "c", "\u0328": "k", "\u0331": "b"},
}
_BELOW = ("\u0323", "\u0326", "\u0327", "\u0328", "\u0331")
_OGONEK, _CEDILLA = "\u0328", "\u0327"
# XeLaTeX's own font has the cedilla with these alone.
_WITH_CEDILLA = "CGKLNRSTcgklnrst"
_LETTERS = {
    **{"ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O"},
    **{"ł": "l", "Ł": "L", "ı": "i", "–": "textendash", "—": "textemdash"},
    **{"…": "textellipsis", "\u2018": "textquoteleft", "\u2019": "textquoteright"},
    **{"“": "textquotedblleft", "”": "textquotedblright", "¡": "textexclamdown"},
    **{"¿": "textquestiondown", "§": "textsection", "¶": "textparagraph", "©": "textcopyright"},
    **{"®": "textregistered", "™": "texttrademark", "£": "textsterling", "€": "texteuro"},
    **{"·": "textperiodcentered", "•": "textbullet", "°": "textdegree", "±": "textpm"},
    **{"×": "texttimes", "÷": "textdiv", "µ": "textmu", "¹": "textonesuperior"},
    **{"²": "texttwosuperior", "³": "textthreesuperior", "½": "textonehalf"},
    **{"¼": "textonequarter", "¾": "textthreequarters", "ª": "textordfeminine"},
    **{"º": "textordmasculine", "−": "textminus", "¥": "textyen"},
}
# What the encoding T1 has, and OT1 has not. So it is with an ogonek.
_LETTERS_OF_T1 = {
    **{"đ": "dj", "Đ": "DJ", "ð": "dh", "Ð": "DH", "þ": "th", "Þ": "TH", "ŋ": "ng", "Ŋ": "NG"},
    **{"«": "guillemotleft", "»": "guillemotright", "‹": "guilsinglleft"},
    **{"›": "guilsinglright", "„": "quotedblbase", "\u201a": "quotesinglbase"},
}

_USUAL_FONT = "Noto Sans"
_CJK_FONT, _KOREAN_FONT = "Noto Sans CJK JP", "Noto Sans CJK KR"
_SIGNS_FONT = "Symbola"
# Scripts whose font has the script's name; a letter's name in Unicode begins with it.
_SCRIPTS = frozenset(
    "ARABIC ARMENIAN BENGALI CHEROKEE DEVANAGARI ETHIOPIC GEORGIAN GUJARATI GURMUKHI HEBREW KANNADA"
    " KHMER LAO MALAYALAM MONGOLIAN MYANMAR ORIYA SINHALA SYRIAC TAMIL TELUGU THAANA THAI".split()
)
_EAST_ASIAN = ("CJK", "IDEOGRAPH", "HIRAGANA", "KATAKANA", "KANGXI")
_RIGHT_TO_LEFT = ("R", "AL", "AN")
_VARIANTS = frozenset("\ufe0e\ufe0f")

# A letter with what stands on it, or joins it to the next one.
_LETTER = re.compile("(?s:.)[\u0300-\u036f\u20d0-\u20f0\u200c\u200d]*")
# An ideographic one has its place in a font; an empty line would end a paragraph.
_BLANK = re.compile(r"(?!\u3000)\s")
_JOINER = re.compile("[\u200c\u200d]")
WHOLE_MOST, PIECE = 16, 6
"""The most letters of a word that stays whole, and of each part of a longer one.

It is broken without a hyphen, which the name does not have.
"""
_LONG_WORD = re.compile(rf"[^\s]{{{WHOLE_MOST + 1},}}")
_BREAK = r"\allowbreak{}"

FONT_COMMANDS = r"""\ifdefined\resultsfont\else
  \ifdefined\XeTeXversion
    \protected\def\resultsfont#1#2{{\font\resultsletters="#1" at \csname f@size\endcsname pt
      \resultsletters\XeTeXlinebreaklocale "ja"\XeTeXlinebreakskip=0pt plus 1pt #2}}
    \protected\def\resultsright#1{{\TeXXeTstate=1 \beginR#1\endR}}
  \else
    \errmessage{These results have letters that need XeLaTeX}
    \protected\def\resultsfont#1#2{\textbf{??}}
    \protected\def\resultsright#1{#1}
  \fi
\fi"""
"""Define what prints letters in a font by its name, and words from right to left.

A document may define its own before. Another engine says so once, and prints question marks.
"""


class LatexWriter:
    """Writes texts for LaTeX, and keeps what a document needs for all of them together.

    `fonts` are the names of fonts for letters that TeX's own fonts lack. `needs_t1` tells that the
    font encoding OT1 lacks a letter.
    """

    def __init__(self) -> None:
        self.fonts: list[str] = []
        self.needs_t1 = False

    def text(self, text: str) -> str:
        """Return a text that LaTeX prints as it is."""
        shown = "".join(filter(_is_shown, _BLANK.sub(" ", unicodedata.normalize("NFC", text))))
        first, end = _turned(shown)
        if first == end:
            return self._in_order(shown)
        middle = rf"\resultsright{{{self._in_order(shown[first:end])}}}"
        return f"{self._in_order(shown[:first])}{middle}{self._in_order(shown[end:])}"

    def commands(self) -> list[str]:
        """Return the definitions of the commands in the texts so far."""
        return [FONT_COMMANDS] if self.fonts else []

    def remarks(self) -> list[str]:
        """Return what a document needs for the texts so far, in sentences."""
        if self.fonts:
            fonts = ", ".join(self.fonts)
            word = "font" if len(self.fonts) == 1 else "fonts"
            return [f"Compile it with XeLaTeX, where the {word} {fonts} can be found."]
        return [r"With pdfLaTeX it needs \usepackage[T1]{fontenc}."] if self.needs_t1 else []

    def _in_order(self, text: str) -> str:
        return "".join(self._run(font, run) for font, run in _runs(text))

    def _run(self, font: str, run: str) -> str:
        written = "".join(self._pieces(font, run))
        if not font:
            return written
        if font not in self.fonts:
            self.fonts.append(font)
        return rf"\resultsfont{{{font}}}{{{written}}}"

    def _pieces(self, font: str, run: str) -> Iterator[str]:
        # Other scripts end a line by rules of their own, and some join their letters.
        breaks = _breaks(run) if font in ("", _USUAL_FONT) else ()
        before = ""
        for place, letter in enumerate(run):
            if place in breaks:
                yield _BREAK
            elif before == letter and letter in _LIGATURES:
                yield _APART
            yield self._letter(letter) if letter.isascii() or not font else letter
            before = letter

    def _letter(self, letter: str) -> str:
        if letter.isascii():
            return _ASCII.get(letter, letter)
        if letter in _LETTERS:
            return f"\\{_LETTERS[letter]}{{}}"
        if letter in _LETTERS_OF_T1:
            self.needs_t1 = True
            return f"\\{_LETTERS_OF_T1[letter]}{{}}"
        base, mark = (*unicodedata.normalize("NFD", letter),)
        self.needs_t1 |= mark == _OGONEK
        dotless = "\\" if base in "ij" and mark not in _BELOW else ""
        return f"\\{_ACCENTS[mark]}{{{dotless}{base}}}"


def _is_shown(character: str) -> bool:
    """Tell whether a character prints, or joins others; isolates and variants of a sign do not."""
    hidden = unicodedata.category(character) == "Cf" and character not in JOINERS
    return not hidden and character not in _VARIANTS


def _turned(text: str) -> tuple[int, int]:
    """Return first place and end of what runs from right to left; a name that begins so, whole."""
    ways = [unicodedata.bidirectional(character) for character in text]
    turned = [place for place, way in enumerate(ways) if way in _RIGHT_TO_LEFT]
    if not turned:
        return 0, 0
    return (turned[0], turned[-1] + 1) if "L" in ways[: turned[0]] else (0, len(text))


def _runs(text: str) -> Iterator[tuple[str, str]]:
    """Yield parts of a text with the font that each needs; '' stands for the document's own."""
    for font, found in groupby(_LETTER.findall(text), _font_of):
        letters = "".join(found)
        # Latin letters join nothing, and a font of signs shows the parts of a sign one by one.
        joins = font not in ("", _USUAL_FONT, _SIGNS_FONT)
        yield font, letters if joins else _JOINER.sub("", letters)


def _font_of(letter: str) -> str:
    """Return the font for a letter with its marks."""
    if marks := _JOINER.sub("", letter[1:]):
        return _font_of(letter[0]) or (_SIGNS_FONT if "\u20e3" in marks else _USUAL_FONT)
    letter = letter[0]
    if letter.isascii() or letter in _LETTERS or letter in _LETTERS_OF_T1 or _is_accented(letter):
        return ""
    name = unicodedata.name(letter, "")
    words = re.split("[ -]", name)
    if "HANGUL" in words:
        return _KOREAN_FONT
    if any(word in name for word in _EAST_ASIAN):
        return _CJK_FONT
    if unicodedata.category(letter).startswith("S"):
        return _SIGNS_FONT
    script = next((word for word in words if word in _SCRIPTS), None)
    if script is not None:
        return f"{_USUAL_FONT} {script.capitalize()}"
    return _CJK_FONT if unicodedata.east_asian_width(letter) in ("W", "F") else _USUAL_FONT


def _is_accented(letter: str) -> bool:
    """Tell whether a letter is an ASCII letter with one accent that LaTeX has a command for."""
    parts = unicodedata.normalize("NFD", letter)
    if len(parts) != 2 or not (parts[0].isascii() and parts[0].isalpha()):
        return False
    return parts[1] in _ACCENTS and not (parts[1] == _CEDILLA and parts[0] not in _WITH_CEDILLA)


def _breaks(text: str) -> set[int]:
    """Return the places before which a line may end inside of long words."""
    return {
        place
        for word in _LONG_WORD.finditer(text)
        for place in range(word.start() + PIECE, word.end(), PIECE)
    }
