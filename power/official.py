# SPDX-License-Identifier: Apache-2.0
"""Which meter measured: one of the series whose energies are official, or another one."""

from __future__ import annotations

from power.meter import Identity, MeterSettings

_MAKER, _MODELS = "YOKOGAWA", "WT3"


def is_official(identity: Identity | None, settings: MeterSettings) -> bool:
    """Tell whether a WT310 or one of its relatives measured; an unknown meter counts as one."""
    if settings.sampling is not None:
        return False
    if identity is None:
        return True
    return identity.maker.upper() == _MAKER and identity.model.upper().startswith(_MODELS)
