# SPDX-License-Identifier: Apache-2.0
"""The control desk: its lanes, its session clock, and its records."""
