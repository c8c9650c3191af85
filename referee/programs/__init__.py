# SPDX-License-Identifier: Apache-2.0
"""The referee's processes: how they are started, watched and stopped."""
