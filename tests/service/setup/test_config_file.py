# SPDX-License-Identifier: Apache-2.0
"""The configuration: each mistake is named by file, section and key."""

from __future__ import annotations

import dataclasses
import pickle
import re
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from referee.errors import ArgumentError, ConfigError, InputError, about_file
from referee.service.setup.config import TlsFiles
from referee.service.setup.config_file import all_sections, dump_config, load_config, tls_line

IMAGES = '[images]\nfolder = "images"\nground_truth = "truth.json"\n'


def load(tmp_path, text):
    """Load a configuration of this text."""
    path = tmp_path / "contest.toml"
    path.write_text(text, encoding="utf-8")
    return load_config(path)


def fault(tmp_path, text):
    """Return the error message of a configuration of this text."""
    with pytest.raises(ConfigError) as error:
        load(tmp_path, text)
    path = tmp_path / "contest.toml"
    assert path == error.value.path and f"{path}: {error.value.fault}" == str(error.value)
    assert str(path) not in error.value.fault
    return str(error.value)


def test_smallest_configuration(tmp_path):
    """Images and ground truth are the only required keys; paths are relative to the file."""
    config = load(tmp_path, IMAGES)
    assert tmp_path / "images" == config.images.folder
    assert tmp_path / "data" / "referee.db" == config.database
    assert tmp_path / "teams.csv" == config.teams
    assert tmp_path / "data" / "meter.jsonl" == config.wire_log_of(1)
    assert (600, "event", True) == (
        config.contest.seconds,
        config.contest.mode,
        config.contest.shuffle,
    )


def test_relative_path_of_the_file_itself(tmp_path, monkeypatch):
    """Paths do not depend on the folder in which the command runs."""
    (tmp_path / "event").mkdir()
    (tmp_path / "event" / "contest.toml").write_text(IMAGES)
    monkeypatch.chdir(tmp_path)
    config = load_config(Path("event/contest.toml"))
    assert tmp_path / "event" / "images" == config.images.folder
    assert tmp_path / "event" / "data" == config.storage.folder


def test_whole_numbers_are_fractions_too(tmp_path):
    """`voltage_range_v = 15` means 15.0."""
    config = load(tmp_path, IMAGES + "[meter]\nvoltage_range_v = 15\nupdate_interval_s = 1\n")
    assert (15.0, 1.0) == (config.meter.voltage_range_v, config.meter.update_interval_s)
    assert isinstance(config.meter.voltage_range_v, float)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["[images] folder is missing", "Folder of the images"]),
        ('[images]\nfolder = "x"\n', ["[images] ground_truth is missing"]),
        (
            IMAGES + '[server]\ncontest_tls = "a.pem"\n',
            ["[server] contest_tls must be { certificate = …, key = …, ca = … }, not 'a.pem'"],
        ),
        (
            IMAGES + '[server]\ncontest_tls = { certificate = "a.pem" }\n',
            ["[server] contest_tls key is missing: The private key"],
        ),
        (
            IMAGES + '[server.contest_tls]\ncertificate = "a"\nkey = "b"\ncert = "c"\n',
            ["[server] contest_tls has no key 'cert'", "Known are: certificate, key, ca"],
        ),
        (
            IMAGES + '[server]\nworker = "gthread"\n',
            ["[server] worker = 'gthread'", "every worker runs gevent", "Delete the line."],
        ),
        (IMAGES + "[contests]\n", ["no section [contests]", "did you mean 'contest'?"]),
        (IMAGES + "[zzz]\n", ["no section [zzz]", "Known are: contest, images"]),
        (IMAGES + "[contest]\nsecond = 5\n", ["[contest] has no key 'second'", "'seconds'?"]),
        (IMAGES + "[contest]\nqqq = 5\n", ["[contest] has no key 'qqq'", "Known are: name"]),
        (IMAGES + '[contest]\nseconds = "soon"\n', ["[contest] seconds", "'soon'", "10m or 1h30m"]),
        (IMAGES + '[contest]\nseconds = "1.5s"\n', ["[contest] seconds", "whole number", "1.5"]),
        (IMAGES + '[contest]\nseconds = "25h"\n', ["[contest] seconds", "at most 86400"]),
        (IMAGES + '[camera]\ndwell_ms = "1s"\n', ["dwell_ms", "whole number", "'1s'"]),
        (IMAGES + "[contest]\nseconds = 600.0\n", ["[contest] seconds", "whole number"]),
        (IMAGES + "[contest]\nseconds = true\n", ["[contest] seconds", "whole number", "True"]),
        (IMAGES + "[contest]\nseconds = false\n", ["[contest] seconds", "whole number", "False"]),
        (IMAGES + "[contest]\nseconds = 0\n", ["[contest] seconds", "at least 1"]),
        (IMAGES + "[contest]\nseconds = 86401\n", ["[contest] seconds", "at most 86400"]),
        (IMAGES + "[contest]\nshuffle = 1\n", ["[contest] shuffle", "true or false", "1"]),
        (IMAGES + "[contest]\nname = 5\n", ["[contest] name", "text", "5"]),
        (IMAGES + '[contest]\nmode = "race"\n', ["[contest] mode", "event, practice", "'race'"]),
        (IMAGES + "[meter]\ncrest_factor = 4\n", ["[meter] crest_factor", "3, 6"]),
        (IMAGES + "[meter]\nupdate_interval_s = 0.3\n", ["update_interval_s", "0.1, 0.25"]),
        (IMAGES + "[meter]\nvoltage_range_v = -1\n", ["voltage_range_v", "at least 0"]),
        (IMAGES + "[meter]\nvoltage_range_v = true\n", ["voltage_range_v", "a number"]),
        (IMAGES + "[meter]\nvoltage_range_v = nan\n", ["voltage_range_v", "a number", "nan"]),
        (IMAGES + "[meter]\nambient_c = 120\n", ["[meter] ambient_c", "at most 100"]),
        (IMAGES + "[meter]\ncalibrated = 2026\n", ["[meter] calibrated", "2026-01-31"]),
        (IMAGES + '[meter]\ncalibrated = "2026-01-31"\n', ["calibrated", "without quotes"]),
        (IMAGES + "[meter]\ncalibrated = 2026-01-31T00:00:00Z\n", ["calibrated", "a date"]),
        (IMAGES + '[meter]\nelement = "4"\n', ["[meter] element", "SIGMA"]),
        (IMAGES + "[meter]\ncurrent_range_a = inf\n", ["current_range_a", "a number", "inf"]),
        (IMAGES + "[storage]\nfolder = 5\n", ["[storage] folder", "a path", "5"]),
        (IMAGES + '[storage]\nfolder = ""\n', ["[storage] folder", "a path", "''"]),
        (IMAGES + "[server]\nworkers = 65\n", ["[server] workers", "at most 64"]),
        ("contest = 5\n" + IMAGES, ["[contest] must be a section"]),
        ("this is no TOML", ["is not TOML"]),
        ("x = " + "[" * 5000, ["is not TOML that can be read"]),
        ("x = " + "9" * 5000, ["is not TOML"]),
        (IMAGES + IMAGES, ["is not TOML"]),
    ],
)
def test_mistakes(tmp_path, text, expected):
    """The message names the section, the key, the value and the expected form."""
    said = fault(tmp_path, text)
    assert [] == [part for part in expected if part not in said], said


def test_file_that_cannot_be_read(tmp_path):
    """A missing file is named with the command that writes one; a binary file is no TOML."""
    with pytest.raises(ConfigError, match="referee init"):
        load_config(tmp_path / "contest.toml")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(tmp_path)
    (tmp_path / "contest.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="is not TOML"):
        load_config(tmp_path / "contest.toml")


@pytest.mark.parametrize("section", all_sections())
def test_every_setting_is_explained(tmp_path, section):
    """Each section and each key has a sentence of help, and the written file shows it."""
    kind = all_sections()[section]
    text = dump_config(load(tmp_path, IMAGES))
    assert kind.__doc__.endswith(".")
    assert f"[{section}]" in text
    for setting in dataclasses.fields(kind):
        sentence = setting.metadata["help"]
        assert sentence.endswith("."), setting.name
        assert sentence.split()[0] in text
        assert f"{setting.name} = " in text


def test_written_file_is_read_back(tmp_path):
    """Reading the file that `init` writes gives the same configuration."""
    config = load(tmp_path, IMAGES)
    assert config == load(tmp_path, dump_config(config))


def test_settings_that_are_left_out_stand_as_comments(tmp_path):
    """A key without a value is written as a comment."""
    text = dump_config(load(tmp_path, IMAGES))
    assert '\n# blacklist = ""\n' in text
    assert "\n# voltage_range_v = " in text


# A TOML file can hold any character but lone surrogates.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0/"), min_size=1)


@pytest.mark.slow
@given(
    name=TEXT,
    folder=NAMES,
    blacklist=st.none() | NAMES,
    seconds=st.integers(1, 86400),
    shuffle=st.booleans(),
    range_v=st.none() | st.floats(0, allow_infinity=False, allow_nan=False),
    classes=st.none() | st.integers(1, 10**9),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_configuration_is_read_back(
    tmp_path, name, folder, blacklist, seconds, shuffle, range_v, classes
):
    """Writing and reading returns any values unchanged."""
    config = load(tmp_path, IMAGES)
    config = dataclasses.replace(
        config,
        contest=dataclasses.replace(
            config.contest, name=name, seconds=seconds, shuffle=shuffle, mode="practice"
        ),
        images=dataclasses.replace(
            config.images,
            folder=tmp_path / folder,
            blacklist=None if blacklist is None else tmp_path / blacklist,
            classes=classes,
        ),
        meter=dataclasses.replace(
            config.meter, voltage_range_v=range_v, calibrated=date(2026, 1, 31)
        ),
    )
    assert config == load(tmp_path, dump_config(config))


def test_tls_is_read_back_from_its_line(tmp_path):
    """The line of 'referee certificate' has paths from the configuration's folder."""
    files = TlsFiles(tmp_path / "a.pem", tmp_path / "data" / "a.key", tmp_path / "ca.pem")
    line = tls_line(files, tmp_path / "contest.toml")
    assert 'contest_tls = { certificate = "a.pem", key = "data/a.key", ca = "ca.pem" }' == line
    config = load(tmp_path, f"{IMAGES}[server]\n{line}\n")
    assert (files, "https") == (config.server.contest_tls, config.server.contest_scheme)
    assert config == load(tmp_path, dump_config(config))


def test_the_page_of_settings_names_every_setting() -> None:
    """The table of the page has a row for each section, with each of its keys."""
    page = (Path(__file__).parents[3] / "docs/settings.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `\[(\w+)\]` \|.*\| (.*) \|$", page, re.MULTILINE))
    assert {
        name: [setting.name for setting in dataclasses.fields(section)]
        for name, section in all_sections().items()
    } == {name: re.findall(r"`(\w+)`", keys) for name, keys in rows.items()}


PLACE = Path("/event/contest.toml")


def test_an_error_learns_its_file_once():
    """The innermost block names the file; a block around it leaves it as it is."""
    with pytest.raises(InputError) as told, about_file(PLACE.parent), about_file(PLACE):
        raise InputError("wrong")
    assert (PLACE, "wrong") == (told.value.path, str(told.value))


def test_a_configuration_stands_before_its_fault():
    """The text for people begins with the file, and the fault is told without it."""
    error = ConfigError("[meter] has no key 'x'.", path=PLACE)
    assert f"{PLACE}: [meter] has no key 'x'." == str(error)
    assert "[meter] has no key 'x'." == error.fault == str(ConfigError(error.fault))


@pytest.mark.parametrize(
    "error", [InputError("a", path=PLACE), ConfigError("a", path=PLACE), ArgumentError("a")]
)
def test_an_error_of_another_process_keeps_its_file(error):
    """A process pool sends errors as they are."""
    again = pickle.loads(pickle.dumps(error))
    assert (type(error), error.path, str(error)) == (type(again), again.path, str(again))


def test_addresses_of_ipv6_have_brackets(tmp_path):
    """A file may leave them out; every page and line has them."""
    server = '[server]\ncontest = ":::8000"\nconsole = "::1:8001"\nscoreboard = "fd00::2:8002"\n'
    config = load(tmp_path, f"{IMAGES}{server}")
    found = (config.server.contest, config.server.console, config.server.scoreboard)
    assert ("[::]:8000", "[::1]:8001", "[fd00::2]:8002") == found


def test_a_path_has_no_null(tmp_path):
    """No file can have it, so the setting is named."""
    with pytest.raises(ConfigError, match=r"\[storage\] folder must be a path"):
        load(tmp_path, f'{IMAGES}[storage]\nfolder = "a\\u0000b"\n')
