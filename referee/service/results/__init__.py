# SPDX-License-Identifier: Apache-2.0
"""The scores of sessions, and their explanations."""
