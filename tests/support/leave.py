# SPDX-License-Identifier: Apache-2.0
"""Leave to reset a meter whatever it holds, for tests whose subject is something else."""

from __future__ import annotations

from power.meter import Leave

LEAVE = Leave(wipes=True)
