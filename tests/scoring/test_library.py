# SPDX-License-Identifier: Apache-2.0
"""The library's door: its names, what it loads, and the page that explains it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import referee.scoring
from referee.errors import InputError

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/library.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
FILES = re.findall(r"```text (\S+)\n(.*?)```", PAGE, re.DOTALL)


def test_every_name_loads_and_is_known_to_type_checkers() -> None:
    """Each name of `__all__` exists, and a type checker sees the same names."""
    for name in referee.scoring.__all__:
        assert name == getattr(getattr(referee.scoring, name), "__name__", name)
    tree = ast.parse((ROOT / "referee/scoring/__init__.py").read_text(encoding="utf-8"))
    (branch,) = (node for node in tree.body if isinstance(node, ast.If))
    declared = [it.asname for node in branch.body for it in getattr(node, "names", [])]
    assert referee.scoring.__all__ == sorted(filter(None, declared))


def test_a_name_that_does_not_exist_is_said_so() -> None:
    """A wrong name fails as it does in any module."""
    with pytest.raises(AttributeError, match="no attribute 'evaluat'"):
        referee.scoring.evaluat  # noqa: B018


def test_the_library_loads_no_server_and_no_meter() -> None:
    """To load and score takes numpy and the readers, and no part of a server or of a meter."""
    servers = {"flask", "gunicorn", "gevent", "sqlite3", "matplotlib"}
    # Of `power` the bounded reader of files is loaded, which is no part of a meter.
    strange = servers | {"pyvisa", "serial", "power.connect", "power.meter"}
    code = (
        "import sys, referee.scoring as s; [getattr(s, name) for name in s.__all__];"
        f"sys.exit(' '.join(sys.modules.keys() & {strange!r}) or None)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_examples_of_the_page_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page's code runs from top to bottom and prints what its comments say."""
    pytest.importorskip("pandas", reason="its last example needs the extra pandas")
    for name, content in FILES:
        (tmp_path / name).write_text(content)
    monkeypatch.chdir(tmp_path)
    assert len(EXAMPLES) > 4
    names: dict[str, object] = {}
    for example in EXAMPLES:
        exec(compile(example, "docs/library.md", "exec"), names)
    printed = capsys.readouterr().out.splitlines()
    assert printed == re.findall(r"^print\(.*#: (.*)$", "".join(EXAMPLES), re.MULTILINE)


def test_the_page_explains_every_name() -> None:
    """The page names each name of `__all__`."""
    assert [] == [name for name in referee.scoring.__all__ if f"`{name}" not in PAGE]


@pytest.mark.parametrize(
    "change",
    [
        *({"iou_cap": cap} for cap in (float("nan"), 0.0, -0.5, 1.5)),
        *({"tolerance_px": tolerance} for tolerance in (float("nan"), -1.0, float("inf"))),
        {"ignore_difficult": True},
    ],
)
def test_rules_that_are_none_are_refused(change: dict[str, Any]) -> None:
    """Rules of a program's own have an IoU that can be reached, and a finite tolerance."""
    with pytest.raises(InputError, match=next(iter(change))):
        referee.scoring.Rules("mine", "1", **change)


@pytest.mark.parametrize("name", sorted(referee.scoring.RULE_SETS))
def test_rules_are_known_by_their_names(name: str) -> None:
    """The name of a rule set is as good as the rules themselves."""
    truth = referee.scoring.GroundTruth.from_arrays([1], [1], [[0, 0, 9, 9]])
    result = referee.scoring.evaluate(truth, referee.scoring.Detections.empty(), name)
    assert result.rules is referee.scoring.RULE_SETS[name]
    assert result.rules is referee.scoring.LiveScore(truth, name).result().rules


def test_the_name_of_no_rules_is_refused() -> None:
    """The name of no rule set is refused with those that there are."""
    truth = referee.scoring.GroundTruth.from_arrays([1], [1], [[0, 0, 9, 9]])
    with pytest.raises(InputError, match=r"rules are 'coco', which are no Rules: .* devkit, "):
        referee.scoring.evaluate(truth, referee.scoring.Detections.empty(), "coco")


def test_several_ious_in_one_call() -> None:
    """Each IoU gives what rules with that cap give, and small boxes keep their tolerance."""
    truth = referee.scoring.GroundTruth.from_arrays([1, 1], [1, 2], [[0, 0, 99, 99], [0, 0, 9, 9]])
    found = referee.scoring.Detections.from_arrays(
        [1, 1], [1, 2], [0.9, 0.8], [[0, 0, 99, 69], [0, 0, 9, 6]]
    )
    told = referee.scoring.evaluate_at(truth, found, (0.5, 0.75))
    assert {0.5: 1.0, 0.75: 0.5} == {iou: result.mean_ap for iou, result in told.items()}
    fixed = referee.scoring.evaluate_at(truth, found, [0.75], "fixed-0.5")
    assert 0.0 == fixed[0.75].mean_ap
    with pytest.raises(InputError, match="iou_cap is 1.5"):
        referee.scoring.evaluate_at(truth, found, [1.5])


def test_files_of_boxes_in_fractions_are_told(tmp_path: Path) -> None:
    """A file whose boxes lie between 0 and 1 gets a warning that names it."""
    (tmp_path / "truth.csv").write_text("1,1,0.1,0.1,0.2,0.2\n")
    (tmp_path / "found.csv").write_text("1,1,0.5,0.7,0.7,0.8,0.8\n")
    with pytest.warns(UserWarning, match=r"truth\.csv lie between 0 and 1"):
        truth = referee.scoring.load_ground_truth(tmp_path / "truth.csv")
    with pytest.warns(UserWarning, match=r"found\.csv lie between 0 and 1"):
        referee.scoring.load_detections(tmp_path / "found.csv", truth, image_ids="own")
