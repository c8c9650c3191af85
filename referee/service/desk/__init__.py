# SPDX-License-Identifier: Apache-2.0
"""Run sessions: the control desk, its clock and its meter."""
