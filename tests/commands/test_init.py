# SPDX-License-Identifier: Apache-2.0
"""`referee init` writes an event; it asks on a terminal, and nowhere else."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys

import pytest

from referee.cli import main
from referee.service.setup.config_file import load_config
from tests.support.running import PATIENCE_S


def made(folder, *options):
    """Run the command and return its exit code and the configuration."""
    return main(["init", str(folder), *options]), load_config(folder / "contest.toml")


def test_without_options_the_configuration_has_its_defaults(tmp_path):
    """A test has no terminal, so nothing is asked, and paths lie in the event's folder."""
    code, config = made(tmp_path / "event")
    home = tmp_path / "event"
    assert (0, 600, "emulated") == (code, config.contest.seconds, config.meter.resource)
    assert home / "images" == config.images.folder
    assert home / "ground_truth.json" == config.images.ground_truth


@pytest.mark.parametrize("lanes", [2, 3, 4])
def test_lanes_make_a_whole_configuration(tmp_path, lanes):
    """Each lane has a name, a port and a meter of its own, with the ranges of [meter]."""
    code, config = made(tmp_path / "event", "--lanes", str(lanes))
    ports = [f"0.0.0.0:{8000 + 10 * place}" for place in range(lanes)]
    assert (0, ports) == (code, [lane.contest for lane in config.declared_lanes])
    assert lanes == len({lane.name for lane in config.lanes})
    assert {("emulated", 300.0, 1.0)} == {
        (it.meter.resource, it.meter.voltage_range_v, it.meter.current_range_a)
        for it in config.lanes
    }
    text = (tmp_path / "event/contest.toml").read_text()
    assert lanes == text.count("[[lane]]")
    assert 1 == text.count("\nvoltage_range_v = 300.0")


def test_options_answer_the_questions(tmp_path):
    """Paths that exist stand in the file whole, or from the folder of the event."""
    (tmp_path / "photos").mkdir()
    home = tmp_path / "event"
    home.mkdir()
    (home / "truth.json").touch()
    meters = ["TCPIP::192.0.2.3::INSTR", "TCPIP::192.0.2.4::INSTR"]
    code, config = made(
        *(home, "--images", str(tmp_path / "photos"), "--ground-truth", str(home / "truth.json")),
        *("--seconds", "300", "--lanes", "2", "--meter", meters[0], "--meter", meters[1]),
    )
    assert (0, 300) == (code, config.contest.seconds)
    assert tmp_path / "photos" == config.images.folder
    assert home / "truth.json" == config.images.ground_truth
    assert 'ground_truth = "truth.json"' in (home / "contest.toml").read_text()
    assert meters == [lane.meter.resource for lane in config.lanes]


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--images", "no/such"], "no/such does not exist"),
        (["--seconds", "soon"], "'soon' is no length"),
        (["--lanes", "2", "--meter", "none"], "--meter is given for 1 of 2 lanes"),
        (
            2 * ["--meter", "TCPIP::192.0.2.3::INSTR"] + ["--lanes", "2"],
            "is that of [[lane]] number 1 too",
        ),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(tmp_path, capsys, options, fault):
    """A wrong option, or one meter in two lanes, leaves no configuration and no secrets."""
    assert 2 == main(["init", str(tmp_path / "event"), *options])
    assert fault in capsys.readouterr().err
    assert [] == list(tmp_path.iterdir())


_FOUND = """
import sys
from referee.cli import main
from referee.commands import init
from referee.programs.meter_search import MetersFound

init.find_meters = lambda: MetersFound(("TCPIP::192.0.2.3::inst0::INSTR",), ("install libusb",))
init.identity_of = lambda resource: "YOKOGAWA WT310"
sys.exit(main(["init", sys.argv[1]]))
"""


def on_terminal(folder, typed):
    """Run `init` on a terminal of its own where somebody types; return the code and the screen."""
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", _FOUND, str(folder)],
        **{"stdin": theirs, "stdout": theirs, "stderr": theirs, "start_new_session": True},
    )
    os.close(theirs)
    os.write(ours, typed)
    screen = b""
    while part := _read(ours):
        screen += part
    os.close(ours)
    return process.wait(PATIENCE_S), screen.decode()


def _read(terminal):
    try:
        return os.read(terminal, 4096)
    except OSError:  # Linux ends a terminal that nobody holds with an error.
        return b""


def test_on_a_terminal_it_asks(tmp_path):
    """The answers are in the file, and the screen shows the meter that was found."""
    (tmp_path / "photos").mkdir()
    typed = f"{tmp_path}/photos\n\n1\n300\n".encode()
    code, screen = on_terminal(tmp_path / "event", typed)
    assert 0 == code, screen
    config = load_config(tmp_path / "event/contest.toml")
    assert tmp_path / "photos" == config.images.folder
    assert ("TCPIP::192.0.2.3::inst0::INSTR", 300) == (
        config.meter.resource,
        config.contest.seconds,
    )
    assert "  1  TCPIP::192.0.2.3::inst0::INSTR" in screen
    assert "It answers: YOKOGAWA WT310" in screen


def test_who_gives_up_has_no_event(tmp_path):
    """Ctrl-D at a question writes nothing, and the exit code is 1."""
    code, screen = on_terminal(tmp_path / "event", b"\x04")
    assert (1, False) == (code, (tmp_path / "event").exists())
    assert "referee init: stopped." in screen


@pytest.mark.parametrize("options", [(), ("--seconds", "300")])
def test_a_folder_with_other_files_is_refused(tmp_path, capsys, options):
    """It is named with what it holds, and stays as it is."""
    home = tmp_path / "photos"
    home.mkdir()
    for name in ("a.jpg", "ground_truth.json"):
        (home / name).touch()
    assert 2 == main(["init", str(home), *options])
    assert (
        "photos: is no folder of the referee's, and holds a.jpg. Nothing" in capsys.readouterr().err
    )
    assert {"a.jpg", "ground_truth.json"} == {path.name for path in home.iterdir()}


def test_what_is_left_of_an_event_is_taken(tmp_path):
    """Who has lost contest.toml makes it anew beside the event's own folder."""
    made(tmp_path / "event")
    (tmp_path / "event/contest.toml").unlink()
    assert 0 == made(tmp_path / "event")[0]


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path, capsys):
    """A file that is in the way is told."""
    (tmp_path / "file").touch()
    assert 2 == main(["init", str(tmp_path / "file/event")])
    assert "file/event: the folder cannot be made: Not a directory." in capsys.readouterr().err


@pytest.mark.parametrize("words", [["init"], ["demo", "--out"], ["practice", "--images"]])
def test_links_in_a_circle_are_a_sentence(tmp_path, monkeypatch, capsys, words):
    """A link that leads to itself is no traceback, wherever a folder is named."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to("link")
    (tmp_path / "truth.csv").write_text("")
    more = ["--ground-truth", "truth.csv"] if "practice" == words[0] else []
    assert 2 == main([*words, "link", *more])
    assert "link" in capsys.readouterr().err and ["link", "truth.csv"] == sorted(os.listdir())


def test_the_next_steps_work_as_they_are_pasted(tmp_path, capsys):
    """Each command that it prints names the configuration, whatever stands in its path."""
    folder = tmp_path / "the big event's folder"
    made(folder)
    printed = capsys.readouterr().out.partition("Next:")[2].splitlines()[1:]
    assert ["team", "check", "serve"] == [shlex.split(line)[1] for line in printed]
    add, check, _ = (shlex.split(line)[1:] for line in printed)
    assert 0 == main(add)
    assert "Team Rocket" in (folder / "teams.csv").read_text()
    assert main(check) in (0, 1)
    assert str(folder / "contest.toml") == check[-1]
