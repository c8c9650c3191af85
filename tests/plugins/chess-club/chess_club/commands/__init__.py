# SPDX-License-Identifier: Apache-2.0
"""The club's commands."""
