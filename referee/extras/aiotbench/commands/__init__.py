# SPDX-License-Identifier: Apache-2.0
"""The commands of this extra: their options, their output and their exit codes."""
