# SPDX-License-Identifier: Apache-2.0
"""The control desk: its lanes, its clock, and what it writes down."""
