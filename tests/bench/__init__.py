# SPDX-License-Identifier: Apache-2.0
"""Benchmarks: each figure stands beside a peer's from the same run, since machines differ."""
