# SPDX-License-Identifier: Apache-2.0
"""The referee's errors: one tree, so that a caller can tell whose fault it is.

A message is one sentence that says what is wrong, and where it helps what to do.
"""

from __future__ import annotations


class RefereeError(Exception):
    """Be the root of everything that the referee raises on purpose."""


class InputError(RefereeError):
    """Report a file that cannot be used: its text names file, line and field where it can."""


class ConfigError(InputError):
    """Report a configuration that cannot be used: its text names file, key and the expectation."""


class Unavailable(RefereeError):
    """Report that another part (control desk, meter, disk) did not do its share in time."""


class Refusal(RefereeError):
    """Refuse what a contestant or an operator asked for; nothing was changed.

    `code` is stable and meant for programs (for example `token_invalid`); `faults` lists every
    fault of a post when there are several.
    """

    def __init__(self, code: str, message: str, faults: tuple[str, ...] = ()) -> None:
        super().__init__(code, message, faults)
        self.code = code
        self.message = message
        self.faults = faults

    def __str__(self) -> str:
        return self.message
