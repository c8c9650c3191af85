# SPDX-License-Identifier: Apache-2.0
"""What `init` asks: each answer is checked at once, and what was found is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.errors import InputError
from referee.programs.meter_search import MetersFound
from referee.programs.setup_questions import EventBasics, Terminal, ask_all, length, resource

METER = "TCPIP::192.0.2.3::inst0::INSTR"
FOUND = MetersFound(("ASRL/dev/ttyS0::INSTR", METER), ("install libusb",))


def asked(answers, found=FOUND, identity="YOKOGAWA WT310"):
    """Answer the questions in order; return what was understood, and all that was said."""
    lines, said = iter(answers), []

    def ask(prompt):
        said.append(prompt)
        return next(lines)

    terminal = Terminal(ask, said.append)
    understood = ask_all(terminal, ["http://192.0.2.2:8000"], lambda: found, lambda name: identity)
    return understood, "\n".join(said)


def test_empty_answers_give_the_defaults():
    """Somebody who only presses Enter gets what a script without options gets."""
    understood, said = asked(["", "", "", ""])
    assert EventBasics() == understood
    assert "http://192.0.2.2:8000" in said


def test_answers_are_taken_as_they_are_meant(tmp_path):
    """Paths become whole, a number chooses the meter from the list, and the meter is asked."""
    (tmp_path / "truth.json").touch()
    understood, said = asked([f" {tmp_path} ", str(tmp_path / "truth.json"), "2", "300"])
    assert EventBasics(tmp_path, tmp_path / "truth.json", (METER,), 300) == understood
    assert f"  2  {METER}" in said
    assert "a serial port; nobody knows" in said
    assert "install libusb" in said
    assert "It answers: YOKOGAWA WT310" in said


def test_an_answer_that_cannot_be_used_is_asked_again(tmp_path):
    """Each fault is one sentence, and the question comes again."""
    file = tmp_path / "file"
    file.touch()
    tries = [str(tmp_path / "no"), str(file), str(tmp_path), "", "3", "0", "none", "0", "1.5", "20"]
    understood, said = asked(tries)
    assert EventBasics(tmp_path, None, ("none",), 20) == understood
    for part in ("does not exist", "is a file", "no number 3", "no number 0", "'1.5' is no length"):
        assert part in said


def test_a_meter_that_does_not_answer_is_kept():
    """A meter may be switched on later, so the name stays, and a line says what will look again."""
    understood, said = asked(["", "", METER, ""], MetersFound(), None)
    assert (METER,) == understood.meters
    assert "Nothing was found." in said
    assert "'referee check' asks again" in said


@pytest.mark.parametrize("text", ["0", "-1", "86401", "25h", "1.5", "soon", "٣", "9" * 5000])
def test_a_length_is_whole_seconds_of_a_day(text):
    """What is no length is refused, however long the text is."""
    with pytest.raises(InputError, match="whole seconds from 1 to 86400"):
        length(text)


def test_a_length_may_have_units():
    """Ten minutes are written as on every command line."""
    assert 600 == length("10m") == length("600")


def test_a_resource_with_wrong_settings_is_refused():
    """What follows the @ of a serial line must be its settings."""
    with pytest.raises(InputError, match="is no meter"):
        resource("ASRL/dev/ttyUSB0::INSTR@nonsense")


def test_a_home_folder_is_understood(tmp_path, monkeypatch):
    """A path may begin with ~, as in a shell."""
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Path(tmp_path) == asked(["~", "", "", ""])[0].images
