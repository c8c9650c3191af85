# SPDX-License-Identifier: Apache-2.0
"""Each fault of a drill has an effect on the scene."""

from __future__ import annotations

import pytest

from referee.extras.drill.play import effects
from referee.extras.drill.rules.faults import BY_NAME


def test_each_fault_has_an_effect():
    """The catalogue of faults and the table of effects have the same names."""
    assert BY_NAME.keys() == effects.EFFECTS.keys()


@pytest.mark.parametrize(("can_fill", "left_out"), [(True, set()), (False, {"disk-full"})])
def test_a_system_without_limits_of_other_processes_has_no_full_disk(
    monkeypatch, can_fill, left_out
):
    """All other faults can come everywhere."""
    monkeypatch.setattr(effects, "CAN_FILL_DISK", can_fill)
    assert BY_NAME.keys() - left_out == {fault.name for fault in effects.possible()}
