# SPDX-License-Identifier: Apache-2.0
"""The evidence of a session, from which anybody can compute its score again."""
