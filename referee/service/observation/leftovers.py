# SPDX-License-Identifier: Apache-2.0
"""The programs that a killed supervisor has left; they end by themselves within seconds."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import psutil

_PROGRAM = ("referee", "process")

_log = logging.getLogger(__name__)


def wait_for_leftovers(config: Path, patience_s: float) -> bool:
    """Wait until no program of an earlier supervisor of this configuration runs; tell whether.

    They hold its ports until they have finished their requests. The caller must hold the lock of
    the contest's folder, so that no living supervisor owns them.
    """
    left = list(_leftovers(config))
    if not left:
        return True
    _log.warning("%d programs of a killed referee are ending; waiting for them", len(left))
    _, alive = psutil.wait_procs(left, timeout=patience_s)
    return not alive


def _leftovers(config: Path) -> Iterator[psutil.Process]:
    for process in psutil.process_iter(["cmdline"]):
        # A zombie, or a process of another user, has no words.
        if _is_program_of(process.info["cmdline"] or (), config):
            yield process


def _is_program_of(words: Sequence[str], config: Path) -> bool:
    pairs = list(pairwise(words))
    return _PROGRAM in pairs and ("--config", str(config)) in pairs
