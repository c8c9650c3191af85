# SPDX-License-Identifier: Apache-2.0
"""What makes a site out of the scoreboard of an event, and renews it."""
