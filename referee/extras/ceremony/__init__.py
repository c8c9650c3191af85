# SPDX-License-Identifier: Apache-2.0
"""The ceremony: final results revealed row by row, and a diploma for each team."""
