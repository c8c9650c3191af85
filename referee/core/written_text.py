# SPDX-License-Identifier: Apache-2.0
"""What a text of a person may contain: names of people and teams, notes and reasons."""

from __future__ import annotations

import re
import unicodedata

JOINERS = "\u200c\u200d"
"""The words of some scripts, and some pictures, need these two, which nobody sees."""

_RUN_OF_JOINERS = re.compile(f"[{JOINERS}]+")
# How the names begin of all letters and signs of the scripts whose words need a joiner.
_JOINED_SCRIPTS = tuple(
    f"{script} "
    for script in "ARABIC SYRIAC MANDAIC MONGOLIAN NKO ADLAM PHAGS-PA DEVANAGARI BENGALI GURMUKHI "
    "GUJARATI ORIYA TAMIL TELUGU KANNADA MALAYALAM SINHALA TIBETAN MYANMAR KHMER".split()
)
# Pictures, the colours of their skin, and the sign that says that a character is a picture.
_PICTURE_KINDS, _IS_PICTURE = ("So", "Sk"), "\ufe0f"


def unfit_character(text: str) -> str | None:
    """Return the first character that no text of a person may have, or None.

    A text is one line that shows as it was written. So it has no control characters, no ends of
    lines, and nothing that turns the direction of what follows or that no font shows.
    """
    return None if text.isprintable() else next((it for it in text if not _is_fit(it)), None)


def character_name(character: str) -> str:
    """Return a character's number and name, for people who cannot see it."""
    name = unicodedata.name(character, "")
    return f"U+{ord(character):04X} {name}".rstrip()


def one_blank_between(text: str) -> str:
    """Return a name as it is stored: one blank between words, and joiners only where they show.

    A joiner stays beside a letter of a script whose words need it, and between two pictures.
    """
    return " ".join(_RUN_OF_JOINERS.sub(_joiner_that_shows, text).split())


def storable(text: str) -> str:
    """Return a text in which an escape such as `\\ud83d` stands for half of a surrogate pair.

    JSON, YAML and the names of files can have such a half. No database, page or file of UTF-8 can
    hold it.
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _is_fit(character: str) -> bool:
    return (
        character.isprintable() or character in JOINERS or unicodedata.category(character) == "Zs"
    )


def _joiner_that_shows(run: re.Match[str]) -> str:
    before, after = run.string[: run.start()][-1:], run.string[run.end() :][:1]
    joiner = run.group()[0]
    if not before or before.isspace() or (joiner == "\u200c" and (not after or after.isspace())):
        return ""
    if any(unicodedata.name(one, "").startswith(_JOINED_SCRIPTS) for one in (before, after) if one):
        return joiner
    pictures = joiner == "\u200d" and all(map(_is_picture, (before, after)))
    return joiner if pictures else ""


def _is_picture(character: str) -> bool:
    if not character:
        return False
    return character == _IS_PICTURE or unicodedata.category(character) in _PICTURE_KINDS
