# SPDX-License-Identifier: Apache-2.0
"""The declaration of one setting: a field of a section, with its documentation and its limits."""

from __future__ import annotations

import dataclasses
from typing import Any


def setting(text: str, default: Any = dataclasses.MISSING, **limits: Any) -> Any:
    """Declare a setting; `choices` lists the allowed values, `least` and `most` bound a number.

    `check` raises ValueError, whose text is the fault, for a value that is not right in itself.
    `example` is the value that a written configuration shows for a setting that has none.
    """
    return dataclasses.field(default=default, metadata={"help": text, **limits})
