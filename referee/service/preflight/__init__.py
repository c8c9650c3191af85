# SPDX-License-Identifier: Apache-2.0
"""Look before a session whether anything stands in its way."""
