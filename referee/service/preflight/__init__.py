# SPDX-License-Identifier: Apache-2.0
"""The checks before an event and before each session."""
