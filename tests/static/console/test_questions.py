# SPDX-License-Identifier: Apache-2.0
"""What the console asks before an action on a session."""

from __future__ import annotations

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

MODULE = "console/questions.js"
SESSION = {"id": 3, "team": "ants"}
SAID = "The blacklist of proposal 2 (a wrong box) will score it."


@pytest.mark.parametrize(("said", "behind"), [("", ""), (SAID, f" {SAID}")])
def test_a_re_run_says_which_files_will_score_it(scripts: Scripts, said: str, behind: str) -> None:
    """After an applied proposal both questions name them; before it, neither speaks of files."""
    rerun = scripts.run(MODULE, "return m.QUESTIONS.rerun(...a).text", SESSION, said)
    assert rerun.endswith(f"that cannot be undone.{behind}")
    replaced = scripts.call(MODULE, "replaceQuestion", "ants", "Session 3 counts.", said)
    assert replaced["text"].endswith(f"Make a new session for ants?{behind}")


def test_more_time_begins_with_a_minute(scripts: Scripts) -> None:
    """It is a number of one second at least."""
    body = "return Object.values(m.QUESTIONS).flatMap((one) => one(...a).fields ?? [])"
    fields = {one["name"]: one for one in scripts.run(MODULE, body, SESSION, "")}
    seconds = fields["seconds"]
    assert ("number", 1, 60) == (seconds["type"], seconds["min"], seconds["value"])
