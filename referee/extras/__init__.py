# SPDX-License-Identifier: Apache-2.0
"""Competitions and tools beside the contest, which knows none of them: a folder each.

A guest's `COMMANDS` says which commands it adds to `referee`, each with its summary. The module
`commands.NAME` of the guest has the command itself.
"""
