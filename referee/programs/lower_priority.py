# SPDX-License-Identifier: Apache-2.0
"""The lower priority of programs that no session waits for."""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path

_AUTOGROUP = Path("/proc/self/autogroup")
# Linux takes ten changes of this kind a second from all users without privileges together.
_TRIES = 20
_AGAIN_S = 0.1

_log = logging.getLogger(__name__)


def lower_priority(niceness: int, autogroup: Path = _AUTOGROUP) -> None:
    """Let other programs go first: give this one, and the processes that it starts, a niceness.

    On most desktops Linux shares the processor between login sessions first (sched(7), autogroup),
    and each of the referee's programs is such a session. There a niceness counts only within one's
    own session, so the whole session gets it too. A system that refuses leaves things as they are.
    """
    niceness = max(niceness, os.getpriority(os.PRIO_PROCESS, 0))
    os.setpriority(os.PRIO_PROCESS, 0, niceness)
    if os.getsid(0) != os.getpid() or not autogroup.exists():
        return  # The session belongs to somebody else, or the system has no such groups.
    for _ in range(_TRIES):
        try:
            autogroup.write_text(str(niceness))
            return
        except BlockingIOError:
            time.sleep(_AGAIN_S)
        except OSError:
            break
    _log.warning("the system keeps the priority of this program's session as it is")
