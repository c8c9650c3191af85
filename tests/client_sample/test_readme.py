# SPDX-License-Identifier: Apache-2.0
"""The examples on the clients' page work as they stand there."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

from client_sample import aiotbench, client, pipelined
from tests.support.programs import CURL

FOLDER = Path(client.__file__).parent
README = (FOLDER / "README.md").read_text()


@pytest.mark.needs(CURL)
def test_the_curl_lines_play_a_whole_session(referee, tmp_path):
    """A shell runs the curl lines as they are: they fetch, post in all three forms and log out."""
    referee.password = "practice"
    script = re.search(r"```sh\n(.*?)```", README, re.DOTALL)
    assert script is not None
    lines = script[1].replace("http://127.0.0.1:8000", referee.url)
    done = subprocess.run(
        ["sh", "-eu"], input=lines, cwd=tmp_path, capture_output=True, text=True, timeout=180
    )
    assert 0 == done.returncode, done.stderr
    assert (tmp_path / "1.jpg").read_bytes() == referee.image(1)
    assert (tmp_path / "1.zip").read_bytes().startswith(b"PK")
    box = (17, 0.9, 10, 20, 109, 79)
    other = (3, 0.4, 0, 0, 49, 49)
    assert [[(1, *box), (1, *other)], [(2, *box)], [(3, *box), (3, *other)]] == referee.answers
    assert ["/status", "/logout"] == referee.paths[-2:]


@pytest.mark.parametrize("main", [client.main, pipelined.main, aiotbench.main])
def test_the_page_names_every_option(main, capsys):
    """An option that --help shows is explained on the page."""
    with pytest.raises(SystemExit):
        main(["--help"])
    options = set(re.findall(r"--[a-z-]+", capsys.readouterr().out)) - {"--help"}
    missing = {option for option in options if f"`{option}" not in README}
    assert set() == missing


def test_the_page_names_every_file():
    """The page names each file of the folder, apart from the pipeline's parts."""
    parts = {"__init__.py", "README.md", "pipeline.py", "session.py"}
    files = {path.name for path in FOLDER.iterdir() if path.suffix in (".py", ".c", ".md")}
    rules = (FOLDER / "conformance").glob("[a-z]*.py")
    files |= {f"conformance/{path.name}" for path in rules}
    assert set() == {name for name in files - parts if f"`{name}`" not in README}


@pytest.mark.parametrize(
    "path",
    sorted([*FOLDER.glob("*.py"), *FOLDER.glob("models/*.py")]),
    ids=lambda path: path.name,
)
def test_every_file_reads_as_python_3_8(path):
    """Every file here reads as Python 3.8, because boards have old systems."""
    assert ast.parse(path.read_text(), feature_version=(3, 8)).body
