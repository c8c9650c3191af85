# SPDX-License-Identifier: Apache-2.0
"""Check, before a session, whether anything stands in its way."""
