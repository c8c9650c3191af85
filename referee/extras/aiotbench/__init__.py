# SPDX-License-Identifier: Apache-2.0
"""AIoTBench: its logs, the rule set as dated data, and its two scores VIPS and VOPS."""
