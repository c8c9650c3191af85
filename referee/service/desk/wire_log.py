# SPDX-License-Identifier: Apache-2.0
"""The log of a lane's meter: its lines reach the disk before the facts that rest on them."""

from __future__ import annotations

import logging
import os
from pathlib import Path

_log = logging.getLogger(__name__)


def secure_wire_log(path: Path) -> None:
    """Wait until every line that was written so far survives a power cut.

    A start or a reading that outlived its lines would look as if nobody had measured it. A log that
    cannot be synced keeps no fact from being stored; a contest without a meter has no log.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return
    except OSError as error:
        _log.warning("%s cannot be synced: %s", path, error)
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        _log.warning("%s cannot be synced: %s", path, error)
    finally:
        os.close(descriptor)
