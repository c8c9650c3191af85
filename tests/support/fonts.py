# SPDX-License-Identifier: Apache-2.0
"""The fonts that a browser of the tests finds: one family, as on a machine that has no other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.support.programs import Need

# Where a system keeps fonts, and where a person does.
_PLACES = (
    Path("/usr/share/fonts"),
    Path("/usr/local/share/fonts"),
    Path.home() / ".local/share/fonts",
)


@dataclass(frozen=True)
class Family:
    """A family of fonts: its name, Debian's package, and the file that shows that it is there."""

    name: str
    package: str
    file: str


FAMILIES = {
    "dejavu": Family("DejaVu Sans", "fonts-dejavu", "DejaVuSans.ttf"),
    "liberation": Family("Liberation Sans", "fonts-liberation", "LiberationSans-Regular.ttf"),
    "noto": Family("Noto Sans", "fonts-noto-core", "NotoSans-Regular.ttf"),
}
# Names in Chinese and Japanese are on the pages, and none of the families has their letters.
_CJK = Family("Noto Sans CJK", "fonts-noto-cjk", "NotoSansCJK-Regular.ttc")
_ALL = (*FAMILIES.values(), _CJK)

FONTS = Need(
    "the fonts that pages are tested in",
    " ".join(family.package for family in _ALL),
    lambda: all(_folder(family) for family in _ALL),
)


def found_families() -> list[str]:
    """Return the families that this machine has."""
    return [font for font, family in FAMILIES.items() if _folder(family)]


def fonts_file(font: str, folder: Path) -> Path | None:
    """Write fontconfig's file for a family into a folder; None if the family is not there.

    Chromium reads the file that `FONTCONFIG_FILE` names when it starts. The system's own files come
    along without their folders, since they say which letters look alike and how to draw them.
    """
    family = FAMILIES[font]
    found = _folder(family)
    if found is None:
        return None
    cache_folder = folder / "fontconfig"
    file = folder / f"{font}.conf"
    folders = [found, *filter(None, [_folder(_CJK)])]
    file.write_text(
        _FILE.format(
            folders="".join(f"<dir>{place}</dir>" for place in folders),
            cache=cache_folder,
            aliases="".join(_ALIAS.format(generic=one, name=family.name) for one in _GENERIC),
        ),
        encoding="utf-8",
    )
    return file


_GENERIC = ("system-ui", "sans-serif", "sans")
_ALIAS = """
  <match target="pattern">
    <test name="family"><string>{generic}</string></test>
    <edit name="family" mode="prepend" binding="strong"><string>{name}</string></edit>
  </match>"""
_FILE = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  {folders}
  <cachedir>{cache}</cachedir>
  <include ignore_missing="yes">/etc/fonts/conf.d</include>{aliases}
</fontconfig>
"""


@cache
def _folder(family: Family) -> Path | None:
    """Return the folder that has a family's file."""
    found = (path for place in _PLACES for path in place.rglob(family.file))
    file = next(found, None)
    return None if file is None else file.parent
