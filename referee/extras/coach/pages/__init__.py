# SPDX-License-Identifier: Apache-2.0
"""The pages of the coach: on a rehearsal's console, in an explanation, and for a team."""
