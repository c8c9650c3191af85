# SPDX-License-Identifier: Apache-2.0
"""Score sessions, and explain scores."""
