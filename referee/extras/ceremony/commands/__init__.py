# SPDX-License-Identifier: Apache-2.0
"""The command of this extra: its options, its output and its exit codes."""
