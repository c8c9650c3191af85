# SPDX-License-Identifier: Apache-2.0
"""The kernel's time limits for the clients of a worker of threads."""

from __future__ import annotations

import socket
import sys
from contextlib import closing

import pytest

from referee.web.server.server import bound_waits


@pytest.mark.skipif(sys.platform != "linux", reason="the limits are Linux's")
def test_a_silent_client_is_not_waited_for() -> None:
    """A connection inherits its listener's limit: a read of a silent client ends."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        bound_waits(listener, silent_s=0.02)
        with closing(socket.create_connection(listener.getsockname())):
            link, _ = listener.accept()
            with closing(link), pytest.raises(BlockingIOError):
                link.recv(1)
