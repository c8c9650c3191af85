# SPDX-License-Identifier: Apache-2.0
"""The command that copies a site: a fault is told once and tried again, and a hang is stopped."""

from __future__ import annotations

from referee.extras.publish.making.then import Then


def test_a_command_runs_in_a_shell(tmp_path):
    """It may have several parts."""
    told = []
    then = Then(f"echo one > {tmp_path}/a && echo two > {tmp_path}/b", told.append)
    then.run()
    assert ("two\n", False, []) == ((tmp_path / "b").read_text(), then.failed, told)


def test_a_fault_is_told_once_and_its_end_too(tmp_path):
    """A host that is away for an hour makes one line, not one for each renewal."""
    told = []
    then = Then(f"test -e {tmp_path}/host", told.append)
    for _ in range(3):
        then.run()
        assert then.failed
    (tmp_path / "host").touch()
    then.run()
    assert not then.failed
    assert ["ended with 1", "worked again"] == [
        next(words for words in ("ended with 1", "worked again") if words in text) for text in told
    ]


def test_a_command_that_hangs_is_stopped_with_all_that_it_started(tmp_path):
    """Renewals go on, and nothing of it is left."""
    told = []
    then = Then(f"sh -c 'sleep 300; touch {tmp_path}/late' & wait", told.append, most_s=0.2)
    then.run()
    assert then.failed
    assert "was stopped" in told[0]
