# SPDX-License-Identifier: Apache-2.0
"""Refusal of options of `referee score` that would have no effect, or contradict each other."""

from __future__ import annotations

import argparse

from referee.errors import InputError
from referee.formats.text import STANDARD_INPUT

_ONLY_ILSVRC = (
    *("--blacklist", "--rules", "--per-class", "--curves", "--explain", "--resamples"),
    *("--clusters", "--rival-detections"),
)
# The options of a line have an effect only beside the option before them.
_NEEDED = {
    "--energy-wh": ("--images-processed", "--energy-uncertainty-wh"),
    "--resamples": ("--seed", "--clusters", "--energy-uncertainty-wh", "--rival-detections"),
    "--rival-detections": ("--rival-energy-wh",),
    "--rival-energy-wh": ("--rival-energy-uncertainty-wh",),
    "--explain": ("--pictures",),
}
_VALUES = {"--resamples": "--resamples 100"}
_FILES = (
    *("--ground-truth", "--detections", "--images", "--blacklist", "--clusters"),
    "--rival-detections",
)


def require_sense(args: argparse.Namespace) -> None:
    """Raise InputError for options that would have no effect, naming what to add or leave out."""
    for option in _ONLY_ILSVRC:
        if args.metric == "coco" and _given(args, option):
            raise InputError(f"{option} does not go with --metric coco: leave it out")
    for needed, options in _NEEDED.items():
        for option in options:
            if _given(args, option) and not _given(args, needed):
                add = _VALUES.get(needed, needed)
                raise InputError(f"{option} has no effect alone: add {add}, or leave it out")
    if _given(args, "--rival-detections") and (args.energy_wh is None) != (
        args.rival_energy_wh is None
    ):
        raise InputError("give both --energy-wh and --rival-energy-wh, or compare mAP with neither")
    if sum(_value(args, option) is STANDARD_INPUT for option in _FILES) > 1:
        raise InputError("- can stand for one file only: there is one standard input")


def _given(args: argparse.Namespace, option: str) -> bool:
    return _value(args, option) is not None


def _value(args: argparse.Namespace, option: str) -> object:
    return getattr(args, option.removeprefix("--").replace("-", "_"))
