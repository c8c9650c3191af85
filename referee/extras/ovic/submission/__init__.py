# SPDX-License-Identifier: Apache-2.0
"""The submission service of OVIC: the intake, the line, the judge and the leaderboard."""
