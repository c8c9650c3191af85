# SPDX-License-Identifier: Apache-2.0
"""The configuration says which tasks take entries, and the check says what they lack."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from referee.errors import ConfigError, InputError
from referee.extras.ovic.part import check_ovic
from referee.extras.ovic.section import ovic_of
from referee.extras.ovic.submission.place import place_of_contest
from referee.extras.ovic.submission.tasks import open_tasks, require_usable
from referee.service.preflight.finding import Level

pytest.importorskip("ai_edge_litert", reason="needs the extra [litert]")


def changed(contest, **ovic):
    """Return the configuration with other settings of OVIC."""
    return replace(contest.config, extras={"ovic": replace(ovic_of(contest.config), **ovic)})


def test_a_contest_without_images_for_ovic_has_no_task(contest):
    """By default no task is open, and there is nothing to check."""
    config = changed(contest, classification_images=None, classification_ground_truth=None)
    assert {} == open_tasks(config)
    assert [] == list(check_ovic(config))
    assert not ovic_of(config).is_open


def test_half_a_task_is_named(contest):
    """Images without ground truth, or the reverse, name what goes together."""
    for half in ({"classification_images": None}, {"classification_ground_truth": None}):
        with pytest.raises(ConfigError, match="classification_ground_truth go together"):
            open_tasks(changed(contest, **half))


def test_settings_reach_the_judge(contest):
    """Each setting has its place in the task."""
    ovic = {"boxes": 25, "background": False, "overhang": 0.0, "slower": 9.0, "attempts": 7}
    ovic |= {"runs": 77, "warm_up": 3, "core": 0, "tolerance": 0.25, "process_s": 11.0}
    task = open_tasks(changed(contest, process_memory_mb=512, **ovic))["classification"]
    assert (25, False, 0.0) == (task.rules.boxes, task.rules.background, task.rules.overhang)
    assert (77, 3, 0, 0.25) == (
        *(task.plan.runs, task.plan.warm_up, task.plan.core, task.plan.tolerance),
    )
    assert (11.0, 512 << 20) == (task.limits.seconds, task.limits.memory_bytes)
    assert (9.0, 7, 0.875) == (task.slower, task.attempts, task.plan.central_share)


def test_the_check_counts_images_or_says_what_is_wrong(contest):
    """A usable task is OK with its images and core; missing files and cores fail."""
    (check,) = check_ovic(contest.config)
    assert Level.OK is check.level
    assert "classification, 3 images, measured on" in check.text
    for wrong in ({"core": 9999}, {"classification_images": Path("/none")}):
        (check,) = check_ovic(changed(contest, **wrong))
        assert Level.FAIL is check.level
    (ovic_of(contest.config).classification_images / "red.png").unlink()
    with pytest.raises(InputError, match=r"red\.png"):
        require_usable(open_tasks(contest.config))


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"board": "-oProxyCommand=x"}, "no board: give .USER@.HOST"),
        ({"board_identity": Path("key")}, "board_identity needs a board"),
    ],
)
def test_a_board_that_cannot_be_is_named(contest, settings, told):
    """A wrong address, or a key for no board, is an error of the configuration."""
    with pytest.raises(ConfigError, match=told):
        place_of_contest(changed(contest, **settings))


def test_a_board_out_of_reach_is_no_fault_of_an_entry(contest, tmp_path):
    """The check fails with what to do, and the queue gets an `InputError`, which costs no try."""
    hosts = tmp_path / "known_hosts"
    hosts.write_text("")
    config = changed(contest, board="pi@127.0.0.1:1", board_known_hosts=hosts)
    with pytest.raises(InputError, match="127.0.0.1"), place_of_contest(config)():
        pass
    (check,) = check_ovic(config)
    assert (Level.FAIL, "board") == (check.level, check.item)
