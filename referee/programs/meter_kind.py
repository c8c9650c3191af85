# SPDX-License-Identifier: Apache-2.0
"""Whether a configured meter of another kind than the WT300 series can be opened at all."""

from __future__ import annotations

from power.connect import open_meter
from power.errors import MeterError
from referee.errors import InputError
from referee.service.setup.config import MeterSection


def require_kind(section: MeterSection) -> None:
    """Raise `InputError` for a kind, an option or a setting that its meter does not know.

    It touches no device.
    """
    if not section.other_kind:
        return
    try:
        open_meter(section.resource, element=section.element).close()
    except (MeterError, ValueError) as error:
        raise InputError(f"[meter] resource '{section.resource}': {error}.") from None
