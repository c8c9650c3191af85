# SPDX-License-Identifier: Apache-2.0
"""Say what happens now: the state that the console shows."""
