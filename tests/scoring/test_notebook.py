# SPDX-License-Identifier: Apache-2.0
"""The page of the library in a real notebook: a kernel of its own runs it, cell by cell.

Its programs take some 50 MB and two seconds, so no extra brings them. Install them to run this:
pip install nbclient ipykernel
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="needs nbclient, which no extra brings")
nbclient = pytest.importorskip("nbclient", reason="needs nbclient, which no extra brings")
pytest.importorskip("ipykernel", reason="needs ipykernel, which no extra brings")

pytestmark = [
    pytest.mark.slow,
    # Its client talks to its kernel on loopback without keys, and warns of that.
    pytest.mark.filterwarnings("default"),
]

PAGE = (Path(__file__).parents[2] / "docs/library.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
FILES = re.findall(r"```text (\S+)\n(.*?)```", PAGE, re.DOTALL)
# The kernel itself keeps its history in SQLite, so what it had loaded before does not count.
BEFORE = "import sys; before = set(sys.modules)"
AFTER = """
strange = {"flask", "gevent", "gunicorn", "power", "pyvisa", "sqlite3"}
print(sorted(strange & (set(sys.modules) - before)))
"""


def test_the_page_runs_in_a_notebook(tmp_path: Path) -> None:
    """Each cell prints what its comments say, and the kernel has loaded no server and no meter."""
    for name, content in FILES:
        (tmp_path / name).write_text(content)
    cells = [nbformat.v4.new_code_cell(code) for code in (BEFORE, *EXAMPLES, AFTER)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(
        notebook, timeout=180, kernel_name="python3", resources=resources
    ).execute()
    printed = "".join(output["text"] for cell in notebook.cells for output in cell.outputs)
    told = re.findall(r"^print\(.*#: (.*)$", "".join(EXAMPLES), re.MULTILINE)
    assert [*told, "[]"] == printed.splitlines()
