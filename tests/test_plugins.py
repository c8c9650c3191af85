# SPDX-License-Identifier: Apache-2.0
"""Guests, tracks and answer formats are entry points: the house's own, and those of packages."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from power.plugins import brought_by
from referee import cli
from referee.errors import ConfigError
from referee.formats.answer_formats import AnswerFormat, all_formats
from referee.plugins import ANSWER_FORMATS, EXTRAS, TRACKS, WORDS, own
from referee.service.preflight.packages import package_findings
from referee.service.setup.config_file import load_config
from referee.service.setup.extra import Extra, all_extras, own_extras
from referee.tracks.loading import known_tracks, load_track, trusted_tracks
from tests.support.contests import write_config
from tests.support.installed import installed, own_names, put_metadata

ROOT = Path(__file__).parents[1]
PAGES = {path.name: path.read_text("utf-8") for path in (ROOT / "docs").glob("*.md")}
HEADINGS = [line.lower() for text in PAGES.values() for line in re.findall("^#+ .*", text, re.M)]

IMPORT = "from referee.service.setup.extra import Extra\n"

Bring = Callable[..., None]


@pytest.fixture
def bring(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Bring]:
    """Return a function that installs a package of one module: group, name, source and package."""
    place = tmp_path_factory.mktemp("beside")

    def put(group: str, name: str, source: str, package: str = "odd") -> None:
        module = package.replace("-", "_")
        put_metadata(place, package, "1.0", {group: {name: f"{module}:IT"}})
        (place / f"{module}.py").write_text(source)
        stack.append(installed(monkeypatch, place))
        stack[-1].__enter__()

    stack: list[Any] = []
    yield put
    for one in reversed(stack):
        one.__exit__(None, None, None)


def test_each_guest_of_the_house_has_its_page() -> None:
    """Each folder of a guest is an entry point, which has a page, or a part of one."""
    folders = {path.parent.name for path in (ROOT / "referee/extras").glob("*/extra.py")}
    assert folders == {*own_names(EXTRAS)} == {*own_extras()}
    for name in folders:
        assert f"{name}.md" in PAGES or any(name in heading for heading in HEADINGS), name


def test_each_track_of_the_house_has_its_page() -> None:
    """Each track bears the name of its entry point, and has a page, or is on that of tracks."""
    for name in own_names(TRACKS):
        assert name == load_track(name).name
        assert f"{name}.md" in PAGES or f"`{name}`" in PAGES["tracks.md"], name


def test_each_format_of_the_house_has_its_page() -> None:
    """Each format bears the name of its entry point, and the protocol tells its media type."""
    assert sorted(own_names(ANSWER_FORMATS)) == [one.name for one in all_formats()]
    for one in all_formats():
        assert f"`{one.media_type}`" in PAGES["protocol.md"]


def test_the_house_loads_none_of_the_others() -> None:
    """A command of the contest imports no guest, and one of the house's guests no other package."""
    program = (
        "import sys\n"
        "from referee import cli\n"
        "from referee.plugins import own\n"
        "for asked in (['score'], ['verify'], ['ovic'], ['--version']):\n"
        "    cli._parser(asked, cli._guests_of(asked))\n"
        "    if asked == ['score']:\n"
        "        assert not [name for name in sys.modules if name.startswith('referee.extras')]\n"
        "own('lpirc_referee.extras')\n"
        "from power.plugins import installed\n"
        "assert 0 == installed.cache_info().currsize\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("import no_such_library", "No module named 'no_such_library'"),
        ("raise SystemExit(1)", "SystemExit: 1"),
        ("IT = 5", "it is no Extra, but a int"),
        (
            "from referee.service.setup.extra import Extra\nIT = Extra('other')",
            "its name is 'other'",
        ),
        (
            f"{IMPORT}IT = Extra('odd', {{'organisers': {{'diploma': 'mine'}}}})",
            "'diploma' is of the guest 'ceremony'",
        ),
    ],
)
def test_a_guest_that_cannot_be_used_is_left_out(
    bring: Bring, source: str, fault: str, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    """The others are there; the log and the check name the package and say what is wrong."""
    bring(EXTRAS, "odd", source)
    with caplog.at_level(logging.WARNING):
        assert own_names(EXTRAS) == [extra.name for extra in all_extras()]
    assert fault in caplog.text and "odd 1.0" in caplog.text
    warned = [one for one in package_findings() if one.remedy]
    assert ["odd"] == [one.item for one in warned] and fault in warned[0].text
    path = write_config(tmp_path)
    with_section = {name for name, extra in own_extras().items() if extra.section is not None}
    assert load_config(path).extras.keys() == with_section != set()
    path.write_text(f"{path.read_text()}[odd]\n")
    with pytest.raises(ConfigError, match="The package odd 1.0 brings 'odd'"):
        load_config(path)


def test_no_package_takes_the_place_of_the_houses_own(
    bring: Bring, caplog: pytest.LogCaptureFixture
) -> None:
    """A track, a guest and a format of a name that is there are left out, and told."""
    bring(TRACKS, "network", "raise SystemExit('hostile')", "a-track")
    bring(EXTRAS, "ovic", "raise SystemExit('hostile')", "a-guest")
    bring(ANSWER_FORMATS, "csv", "raise SystemExit('hostile')", "a-format")
    assert type(load_track("network")).__module__ == "referee.tracks.network"
    assert own_names(EXTRAS) == [extra.name for extra in all_extras()]
    assert sorted(own_names(ANSWER_FORMATS)) == [one.name for one in all_formats()]
    assert "the guest 'ovic' already exists" in caplog.text
    assert "hostile" not in caplog.text


def test_two_packages_of_one_name_cost_only_that_name(bring: Bring) -> None:
    """Neither is chosen by chance."""
    bring(TRACKS, "odd", "IT = 5", "ants")
    bring(TRACKS, "odd", "IT = 5", "bees")
    with pytest.raises(ConfigError, match=r"ants 1.0 .* bees 1.0 brings the same name"):
        load_track("odd")
    assert ["camera", "network"] == known_tracks()


def test_a_track_of_a_package_is_loaded_by_its_name(bring: Bring) -> None:
    """The configuration and `--track` name it; a bundle alone never does."""
    bring(TRACKS, "top1", "from tests.tracks.top1 import TRACK as IT")
    assert "top1" == load_track("top1").name
    assert "top1" not in trusted_tracks() and "top1" in trusted_tracks("top1")
    bring(TRACKS, "top2", "from tests.tracks.top1 import TRACK as IT", "other")
    with pytest.raises(ConfigError, match="other 1.0 calls itself 'top1'"):
        load_track("top2")


FORMAT = """from dataclasses import replace
from referee.formats.answer_formats import CSV
IT = replace(CSV, {})
"""


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        (
            "name='table', refusal='table_invalid'",
            "'application/csv' is of the answer format 'csv'",
        ),
        ("name='other'", "its name is 'other'"),
        ("name='table', media_type='a/b', other_types=()", "'csv_invalid' is of the answer format"),
    ],
)
def test_a_format_has_words_of_its_own(
    bring: Bring, changes: str, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    """One that would take the posts of another, or its refusals, is left out."""
    bring(ANSWER_FORMATS, "table", FORMAT.format(changes))
    assert sorted(own_names(ANSWER_FORMATS)) == [one.name for one in all_formats()]
    assert fault in caplog.text


def test_a_command_of_a_package_is_found_in_it(
    bring: Bring, capsys: pytest.CaptureFixture[str]
) -> None:
    """It stands in the help; a command of ours that it names too stays ours."""
    source = (
        f"{IMPORT}IT = Extra('odd', {{'guests': {{'greet': 'say hello', 'verify': 'say yes'}}}})\n"
    )
    bring(EXTRAS, "odd", source)
    found = {name: home for name, _, home in cli.all_commands()}
    assert ("odd.commands.greet", "referee.commands.verify") == (found["greet"], found["verify"])
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    assert "for guests:\n  greet" in capsys.readouterr().out


def test_without_its_own_metadata_the_referee_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An installation of an earlier version has no entry points of these groups."""
    monkeypatch.setattr("referee.plugins.brought_by", lambda package: ())
    monkeypatch.setattr("referee.plugins._ROOT", Path("/nowhere"))
    own.cache_clear()
    with pytest.raises(ConfigError, match="are not there: install the referee again"):
        own(EXTRAS)
    own.cache_clear()


def test_a_checkout_has_the_entry_points_that_are_installed() -> None:
    """A checkout tells its own, so no installation of it is out of date; both tell the same."""
    assert {one.value for one in brought_by("lpirc-referee")} == {
        plugin.value for group in WORDS for plugin in own(group).values()
    }


def test_types_of_what_is_brought() -> None:
    """What the groups load is what their pages say."""
    assert {Extra} == {type(one) for one in own_extras().values()}
    assert {AnswerFormat} == {type(one) for one in all_formats()}
