# SPDX-License-Identifier: Apache-2.0
"""Follow a meter's integration: when to read, how to go on after a fault, how to end."""
