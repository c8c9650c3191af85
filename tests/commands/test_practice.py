# SPDX-License-Identifier: Apache-2.0
"""The options of a rehearsal."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from referee.commands import practice


@pytest.mark.parametrize("option", ["--ground-truth", "--labels"])
def test_labels_are_a_plain_name_of_the_ground_truth(option: str) -> None:
    """A folder of YOLO labels is a ground truth, by either name."""
    parser = argparse.ArgumentParser()
    practice.add_arguments(parser)
    args = parser.parse_args(["--images", "photos", option, "labels"])
    assert Path("labels") == args.ground_truth
