# SPDX-License-Identifier: Apache-2.0
"""A season: many evidence bundles scored again under other rules, by many processes."""
