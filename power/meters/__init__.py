# SPDX-License-Identifier: Apache-2.0
"""Meters other than the WT300 series: sampled power, a software integrator, and the drivers."""
