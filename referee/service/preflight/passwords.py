# SPDX-License-Identifier: Apache-2.0
"""The check of passwords that are still defaults, or that anybody would try first."""

from __future__ import annotations

from collections.abc import Mapping

from referee.service.entry.passwords import has_password
from referee.service.preflight.finding import CheckResult, fail, ok
from referee.service.preflight.slow import PASSWORDS

_COMMON = ("practice", "password", "lpirc", "referee", "admin", "test", "changeme", "123456", "")
_LISTED = 3


def check_passwords(hashes: Mapping[str, str]) -> CheckResult:
    """Try the passwords that anybody would try at each name's hash (tens of milliseconds each)."""
    weak = [name for name, stored in hashes.items() if _is_weak(name, stored)]
    if weak:
        listed = ", ".join(f"'{name}'" for name in weak[:_LISTED])
        more = f" and {len(weak) - _LISTED} more" if len(weak) > _LISTED else ""
        text = f"anybody can guess the password of {listed}{more}"
        remedy = "Give new ones: 'referee team password NAME' or 'referee operator password NAME'."
        return fail(*PASSWORDS, text, remedy)
    return ok(*PASSWORDS, f"{len(hashes)} tried, none is a default")


def _is_weak(name: str, stored: str) -> bool:
    name = name.removeprefix("operator ")
    squeezed = "".join(name.split()).lower()
    tried = dict.fromkeys((*_COMMON, name, name.lower(), squeezed, f"{squeezed}1"))
    return any(has_password(stored, password) for password in tried)
