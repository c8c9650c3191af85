# SPDX-License-Identifier: Apache-2.0
"""OVIC's rules: a model, its input, its latency, its score, the line and the leaderboard; pure."""
