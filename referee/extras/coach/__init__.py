# SPDX-License-Identifier: Apache-2.0
"""The coach: where a session's joules went, and what would have raised its score."""
