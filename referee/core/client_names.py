# SPDX-License-Identifier: Apache-2.0
"""What a contestant's program calls itself: the header `User-Agent` of its login (RFC 9110)."""

from __future__ import annotations

MOST = 200
"""The most characters of a name that are kept."""


def client_name(header: str) -> str:
    """Return a header as one line of visible ASCII, cut off after `MOST`; '' if there is none.

    A stranger writes it, and operators read it: what is not ASCII is a question mark.
    """
    plain = "".join(one if " " <= one <= "~" else "?" for one in " ".join(header.split()))
    return plain if len(plain) <= MOST else plain[: MOST - 3] + "..."
