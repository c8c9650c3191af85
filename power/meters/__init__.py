# SPDX-License-Identifier: Apache-2.0
"""Meters other than the WT300 series: the kinds by name, and their drivers, one module a device."""
