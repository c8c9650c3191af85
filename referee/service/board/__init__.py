# SPDX-License-Identifier: Apache-2.0
"""The board: the present state of the contest, as the console shows it."""
