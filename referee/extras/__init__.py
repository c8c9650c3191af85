# SPDX-License-Identifier: Apache-2.0
"""Competitions and tools beside the contest, which knows none of them: a folder each.

What a guest brings to the contest is the `EXTRA` of its module `extra`.
"""
