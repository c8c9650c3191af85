# SPDX-License-Identifier: Apache-2.0
"""The commands of `referee`: what they take, what they print, and their exit codes."""
