# SPDX-License-Identifier: Apache-2.0
"""Benchmarks: figures beside a peer's in the same run, since machines differ and are noisy."""
