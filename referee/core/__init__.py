# SPDX-License-Identifier: Apache-2.0
"""Pure rules: functions of facts and `now` that touch no clock, disk, network or chance."""
