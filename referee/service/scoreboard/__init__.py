# SPDX-License-Identifier: Apache-2.0
"""What the audience sees of an event, and what a freeze hides from it."""
