# SPDX-License-Identifier: Apache-2.0
"""No command ends for want of a character, whatever the terminal's encoding is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from power.commands.characters import lacking

ROOT = Path(__file__).parents[2]
ENCODINGS = ("utf-8", "latin-1", "ascii", "cp1252")
BYTES_OF_NO_TEXT = os.fsdecode(b"caf\xe9 \xff")


def run(encoding: str, *words: str) -> tuple[int, str, str]:
    """Run a module with this encoding of its outputs; return exit code, output and errors."""
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=ROOT,
        env=os.environ | {"PYTHONIOENCODING": encoding},
        capture_output=True,
        timeout=180,
    )
    return done.returncode, done.stdout.decode("latin-1"), done.stderr.decode("latin-1")


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_class_with_half_of_a_pair_is_printed_with_an_escape(
    encoding: str, shared_data: Path
) -> None:
    """A class name that no encoding has is printed, and the score is the same."""
    files = shared_data / "field/files"
    words = ("--ground-truth", str(files / "lone_surrogate.json"))
    words += ("--detections", str(files / "one_coco.txt"))
    code, out, err = run(encoding, "referee", "score", *words)
    assert (0, "") == (code, err)
    assert "1 \\ud83d  1.000000" in out
    assert "mAP                         1.000000" in out


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("referee", "--help"), 0),
        (("referee", "score", "--help"), 0),
        (("referee", BYTES_OF_NO_TEXT), 2),
        (("referee", "score", "--ground-truth", BYTES_OF_NO_TEXT, "--detections", "x"), 2),
        (("power", "--help"), 0),
        (("power", "record", "--help"), 0),
        (("power", BYTES_OF_NO_TEXT), 2),
        (("power", "audit", BYTES_OF_NO_TEXT), 2),
        (("power", "ptd", BYTES_OF_NO_TEXT), 2),
        (("client_sample.client", "--help"), 0),
        (("client_sample.conformance", "--help"), 0),
    ],
)
def test_no_command_ends_with_a_traceback(encoding: str, words: tuple[str, ...], code: int) -> None:
    """Help, and faults that quote a word of no text, end with their exit codes."""
    ended, _, err = run(encoding, *words)
    assert code == ended, err
    assert "Traceback" not in err


@pytest.mark.slow
def test_what_a_pipe_lacks_is_an_escape_and_json_stays_json(tmp_path: Path) -> None:
    """A name in the output of a command is an escape where the pipe has no such letter."""
    log = tmp_path / "Zürich.csv"
    log.write_text("nothing")
    code, _, err = run("ascii", "power", "audit", str(log))
    assert 2 == code
    assert "Z\\xfcrich.csv" in err


def test_a_sentence_names_the_character() -> None:
    """What cannot be written is told with the text around it, what cannot be read with its byte."""
    with pytest.raises(UnicodeEncodeError) as lost:
        "the team \ud83d of Zürich".encode()
    assert (
        "'the team \\ud83d of Z\\xfcrich' has '\\ud83d', which utf-8 cannot hold: write the name "
        "without it" == lacking(lost.value)
    )
    with pytest.raises(UnicodeDecodeError) as odd:
        b"caf\xe9".decode()
    assert "has the byte 0xe9, which is not utf-8" in lacking(odd.value)
    assert "label empty" in lacking(UnicodeError("label empty or too long"))
