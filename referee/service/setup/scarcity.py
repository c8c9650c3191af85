# SPDX-License-Identifier: Apache-2.0
"""What the machine lacks where a file cannot be opened: that is no fault of the file."""

from __future__ import annotations

import errno

_SCARCE = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS})


def scarcity(error: BaseException | None) -> str | None:
    """Return what the machine lacks if an error says so, else None."""
    if isinstance(error, OSError) and error.errno in _SCARCE:
        return error.strerror
    return None
