# SPDX-License-Identifier: Apache-2.0
"""What other programs may watch: whether the referee is healthy, and its metrics."""
