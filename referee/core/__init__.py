# SPDX-License-Identifier: Apache-2.0
"""Pure rules: they take facts and `now`, and return decisions; no clock, disk, network, chance."""
