# SPDX-License-Identifier: Apache-2.0
"""When two names are the same, and when they only look alike: one rule for teams, people, lanes.

Two names are the same if they differ in nothing that a reader sees as a difference of the word:
capitals (Turkish ones too), composed or decomposed accents, full and half width, blanks, and
characters that nobody sees. RFC 8265 compares user names so; Unicode's D145 says how capitals are
ignored. A digit and its superscript stay two characters.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from referee.core.written_text import JOINERS, character_name

# Nothing of these shows: Unicode's default-ignorable characters that count as printable, and the
# blank of braille. Whether a picture is in colour is no difference of names.
_UNSEEN = frozenset(
    chr(number)
    for numbers in (
        map(ord, JOINERS),
        (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0),
        range(0x180B, 0x1810),
        range(0xFE00, 0xFE10),
        range(0xE0100, 0xE01F0),
    )
    for number in numbers
)

# What looks like a Latin letter in usual fonts, from Unicode's list of confusable characters:
# Latin, Greek, Cyrillic, Armenian and Cherokee letters and digits. After it, Arabic letters that a
# Persian keyboard has with another number.
_LOOK_LIKE = {
    "A": "\u0391\u0410\u13aa",
    "B": "\u0392\u0412\u13f4",
    "C": "\u03f9\u0421\u13df",
    "D": "\u13a0",
    "E": "\u0395\u0415\u13ac",
    "F": "\u03dc",
    "G": "\u050c\u13c0",
    "H": "\u0397\u041d\u13bb",
    "J": "\u037f\u0408\u13ab",
    "K": "\u039a\u041a\u13e6",
    "L": "\u13de",
    "M": "\u039c\u03fa\u041c\u13b7",
    "N": "\u039d",
    "O": "0\u039f\u041e\u0555",
    "P": "\u03a1\u0420\u13e2",
    "S": "\u0405\u054f\u13da",
    "T": "\u03a4\u0422\u13a2",
    "U": "\u054d",
    "V": "\u0474\u13d9",
    "W": "\u051c\u13b3",
    "X": "\u03a7\u0425",
    "Y": "\u03a5\u0423\u04ae\u13a9",
    "Z": "\u0396\u13c3",
    "a": "\u0251\u03b1\u0430",
    "c": "\u03f2\u0441\u1d04",
    "d": "\u0501",
    "e": "\u0435",
    "g": "\u0261\u0581",
    "h": "\u04bb\u0570",
    "i": "\u026a\u03b9\u0456\u13a5",
    "j": "\u03f3\u0458",
    "l": "1I|\u01c0\u0399\u0406\u04c0\u04cf",
    "n": "\u0578",
    "o": "\u03bf\u043e\u0585\u1d0f",
    "p": "\u03c1\u0440",
    "q": "\u051b",
    "r": "\u0433",
    "s": "\u0455\ua731",
    "u": "\u03c5\u057d\u1d1c",
    "v": "\u03bd\u0475\u1d20",
    "w": "\u0461\u051d\u1d21",
    "x": "\u0445",
    "y": "\u0443\u04af",
    "z": "\u1d22",
    "\u06cc": "\u064a\u0649",
    "\u06a9": "\u0643",
}
_LOOKS = {ord(other): letter for letter, others in _LOOK_LIKE.items() for other in others}
_STRANGE = frozenset(
    letter
    for letter in map(chr, _LOOKS)
    if letter.isalpha() and not unicodedata.name(letter).startswith("LATIN ")
)
# The blank of full width, and the block of all other characters of full and half width.
_PLAIN_WIDTH = {
    number: unicodedata.normalize("NFKC", chr(number))
    for number in (0x3000, *range(0xFF00, 0xFFF0))
    if unicodedata.decomposition(chr(number)).startswith(("<wide>", "<narrow>"))
}
_SEEN_IN_PLAIN_WIDTH = {**_PLAIN_WIDTH, **dict.fromkeys(map(ord, _UNSEEN))}
_SCRIPTS = ("LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "CHEROKEE")
_CHARACTERS_TOLD = 3


@dataclass(frozen=True)
class LookAlike:
    """A name that looks like another one, or (`other` is None) that mixes scripts in a word.

    `differences` has the characters at which a reader cannot see the difference.
    """

    name: str
    other: str | None
    differences: tuple[tuple[str, str], ...]


def comparable(name: str) -> str:
    """Return what all ways to write a name have in common; '' if nobody sees anything of it."""
    if name.isascii():
        return " ".join(name.lower().split())
    text = name.translate(_SEEN_IN_PLAIN_WIDTH)
    folded = unicodedata.normalize("NFD", unicodedata.normalize("NFD", text).casefold())
    # The capital of a Turkish i has a dot, and that of a dotless one is the I of other languages.
    folded = folded.replace("i\u0307", "i").replace("\u0131", "i")
    return " ".join(unicodedata.normalize("NFC", folded).split())


class SameNames:
    """Names in which one is found, however it is written.

    Events of earlier releases may have two names that count as the same today. Each of them is
    found by its exact writing, and no other writing of them means either.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)
        self._same: dict[str, str | None] = {}
        for name in self._names:
            known = comparable(name)
            self._same[known] = None if known in self._same else name

    def find(self, name: str) -> str | None:
        """Return which name is meant: exactly this one, or the only one that is the same."""
        return name if name in self._names else self._same.get(comparable(name))


def find_name(name: str, names: Collection[str]) -> str | None:
    """Return which of the names is meant, as `SameNames.find` does."""
    return name if name in names else SameNames(names).find(name)


def look_alikes(names: Iterable[str], known: Iterable[str] = ()) -> list[LookAlike]:
    """Return what a reader could take for another name, in the order of `names`.

    Each name is held against `known` and the names before it. Equal names are no look-alikes.
    """
    seen: dict[str, str] = {}
    for name in known:
        seen.setdefault(_looks(name), name)
    found = []
    for name in names:
        other = seen.setdefault(_looks(name), name)
        if other != name and comparable(other) != comparable(name):
            found.append(LookAlike(name, other, _differences(name, other)))
        elif strangers := _strangers(name):
            found.append(LookAlike(name, None, strangers))
    return found


def look_alike_text(found: LookAlike) -> str:
    """Return a warning that names both names and the numbers of the characters."""
    pairs = [
        f"{character_name(here)}"
        + (f" where the other has {character_name(there)}" if there else "")
        for here, there in found.differences[:_CHARACTERS_TOLD]
    ]
    more = len(found.differences) - len(pairs)
    listed = ", ".join(pairs) + (f", and {more} more" if more > 0 else "")
    if found.other is None:
        return (
            f"'{found.name}' mixes alphabets in one word: {listed}. Whoever types the name as it "
            "looks types another name."
        )
    return f"'{found.name}' looks like '{found.other}', and is another name: it has {listed}."


def _looks(name: str) -> str:
    """Return what all names have in common that look alike."""
    if not name.isascii():
        name = unicodedata.normalize("NFD", name.translate(_PLAIN_WIDTH))
    return comparable(name.translate(_LOOKS))


def _differences(name: str, other: str) -> tuple[tuple[str, str], ...]:
    mine, theirs = (unicodedata.normalize("NFC", one) for one in (name, other))
    if len(mine) == len(theirs):
        pairs = zip(mine, theirs, strict=True)
        return tuple(dict.fromkeys((a, b) for a, b in pairs if comparable(a) != comparable(b)))
    return tuple((one, "") for one in dict.fromkeys(mine) if one not in theirs)


def _strangers(name: str) -> tuple[tuple[str, str], ...]:
    """Return the letters of the rarer alphabet in a word that has look-alikes of another one."""
    name = unicodedata.normalize("NFC", name)
    if _STRANGE.isdisjoint(name):
        return ()
    for word in name.split():
        scripts = {script: [one for one in word if _is_of(one, script)] for script in _SCRIPTS}
        present = sorted((letters for letters in scripts.values() if letters), key=len)
        if len(present) > 1 and not _STRANGE.isdisjoint(word):
            return tuple((one, "") for one in dict.fromkeys(present[0]))
    return ()


def _is_of(character: str, script: str) -> bool:
    return character.isalpha() and unicodedata.name(character, "").startswith(f"{script} ")
