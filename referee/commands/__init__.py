# SPDX-License-Identifier: Apache-2.0
"""The commands of `referee`: their options, their output and their exit codes."""
