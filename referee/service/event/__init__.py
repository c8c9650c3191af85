# SPDX-License-Identifier: Apache-2.0
"""The results of an event: ranking, prizes, proposals of new scores, and their approval."""
