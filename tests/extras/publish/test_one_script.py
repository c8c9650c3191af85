# SPDX-License-Identifier: Apache-2.0
"""The scripts of a page become one, in the order in which they need each other."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from referee.errors import InputError
from referee.extras.publish.one_script import one_script
from tests.support.running import PATIENCE_S

MODULES = {
    "a/main.js": 'import { twice as double, ONE } from "../b/sums.js";\n'
    'import {\n  Box,\n} from "./box.js";\n'
    "console.log(JSON.stringify([double(ONE), new Box().own]));\n",
    "a/box.js": 'import { ONE } from "../b/sums.js";\nconst hidden = 5;\n'
    "export class Box {\n  own = hidden + ONE;\n}\n",
    "b/sums.js": "const hidden = 2;\nexport const ONE = 1;\n"
    "export function twice(n) {\n  return hidden * n;\n}\nexport async function later() {}\n",
}


def test_each_module_keeps_its_own_names():
    """Two modules may have the same name inside, and an import may be called otherwise."""
    text = one_script("a/main.js", MODULES.__getitem__)
    assert 1 == text.count("class Box") and text.index("twice(n)") < text.index("class Box")
    assert "import " not in text and "export " not in text
    node = shutil.which("node")
    if node is not None:
        told = subprocess.run(
            [node, "-e", text], capture_output=True, check=True, timeout=PATIENCE_S
        )
        assert [2, 6] == json.loads(told.stdout)


@pytest.mark.parametrize(
    "line", ['import x from "./y.js";', 'import "./y.js";', "export default 5;", "export { a };"]
)
def test_a_module_of_another_form_is_refused(line):
    """Its script would fail in the browser, where nobody looks."""
    with pytest.raises(InputError, match="cannot have this line"):
        one_script("main.js", {"main.js": f"{line}\n"}.__getitem__)


def test_modules_that_import_each_other_are_refused():
    """There is no order for them."""
    both = {name: f'import {{ x }} from "./{other}.js";\n' for name, other in ("ab", "ba")}
    with pytest.raises(InputError, match="import each other"):
        one_script("a.js", lambda path: both[path[0]])
