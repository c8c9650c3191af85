# SPDX-License-Identifier: Apache-2.0
"""The coach's rules: pure functions of a session as it was played."""
