# SPDX-License-Identifier: Apache-2.0
"""`referee rescore` from options to exit code."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from referee import cli
from referee.extras.season.rows import OF_BUNDLE, read_rows
from tests.support.season_bundles import members_of, shaken, small_truth, write, write_truth

PAGE = (Path(__file__).parents[4] / "docs/season.md").read_text(encoding="utf-8")


@pytest.fixture
def season(tmp_path, monkeypatch):
    """Go to a folder with a ground truth and two bundles."""
    truth = small_truth()
    monkeypatch.chdir(tmp_path)
    write_truth(Path("truth.csv"), truth)
    Path("hall").mkdir()
    for number, team in enumerate(("ants", "bees")):
        detections = shaken(truth, np.random.default_rng(number), 300)
        write(f"hall/{number}.zip", members_of(truth, detections, session=number, team=team))
    return ["rescore", "hall", "--ground-truth", "truth.csv", "--out", "season.jsonl"]


@pytest.mark.slow
def test_a_season_from_command_to_comparison(season, capsys):
    """Two processes score under two rules, and the page's program compares the rows."""
    assert 0 == cli.main([*season, "--jobs", "2", "--rules", "devkit", "--rules", "voc"])
    out = capsys.readouterr().out
    assert "bundles: 2, rows: 4, of them from before: 0, not scored: 0. Wrote season.jsonl." in out
    assert "2 of 2 rows with the bundle's own rules have its own mAP, to the last digit." in out
    assert {"ants", "bees"} == {row["team"] for row in read_rows(Path("season.jsonl"))}
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(program, "docs/season.md", "exec"), {})
    assert 1 == len(capsys.readouterr().out.splitlines())


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--tls-ca-file", "truth.csv"], "add --dask tls://HOST:8786"),
        (["--dask", "tls://h:1", "--tls-key", "truth.csv"], "give all of --tls-ca-file"),
        (
            "--dask tls://h:1 --tls-ca-file truth.csv --tls-cert truth.csv".split()
            + ["--tls-key", "no.key"],
            "no.key does not exist",
        ),
        (["--ground-truth", "no.json"], "no.json does not exist"),
        (["--blacklist", "no.csv"], "no.csv"),
    ],
)
def test_wrong_use_is_told_and_leaves_no_file(season, capsys, options, fault):
    """Each fault is one sentence, the exit code is 2, and nothing is written."""
    assert 2 == cli.main([*season, *options])
    assert fault in capsys.readouterr().err
    assert [] == list(Path().glob("season*"))


@pytest.mark.parametrize("options", [["--jobs", "0"], ["--rules", "none"], ["--resamples", "x"]])
def test_a_value_that_is_none_is_wrong_use(season, capsys, options):
    """argparse names the option."""
    with pytest.raises(SystemExit, match="2"):
        cli.main([*season, *options])
    assert f"argument {options[0]}" in capsys.readouterr().err


def test_a_cluster_without_tls_is_warned_of(season, capsys, monkeypatch):
    """Whoever reaches an open cluster can run programs on it, so the command says it.

    No client is made for an address of no kind: it would stay half open, and fail when it is freed.
    """
    distributed = pytest.importorskip("distributed", reason="needs the extra [season]")
    monkeypatch.setattr(distributed, "Client", lambda *_, **__: pytest.fail("a client was made"))
    assert 2 == cli.main([*season, "--dask", "nonsense://127.0.0.1:1"])
    told = capsys.readouterr().err
    assert "is not encrypted: whoever reaches that cluster can run programs on it." in told
    assert "no cluster answers at nonsense://127.0.0.1:1" in told


def test_the_page_explains_every_field():
    """docs/season.md has each field of a row; the options are those of the command's help."""
    assert [] == [field for field in OF_BUNDLE if f"`{field}`" not in PAGE]


def test_the_json_of_the_help_is_one_object(season, capsys, monkeypatch):
    """--json prints one object on standard output, and the broken bundles with their reasons."""
    from referee.extras.season.commands import rescore
    from tests.extras.season.test_rescoring import Here

    monkeypatch.setattr(rescore, "_executor", lambda args: Here())
    Path("hall/broken.zip").write_bytes(b"PK")
    assert 1 == cli.main([*season, "--json"])
    out, err = capsys.readouterr()
    reason = "This is no whole zip file: it has no end record."
    assert {
        "bundles": 3,
        "rows": 3,
        "kept": 0,
        "broken": [{"file": "hall/broken.zip", "reason": reason}],
        "own_rules": 2,
        "reproduced": 2,
        "out": "season.jsonl",
    } == json.loads(out)
    assert f"hall/broken.zip: {reason}" in err
