# SPDX-License-Identifier: Apache-2.0
"""The audience's server: pages, their stream of events, and the feed. It changes nothing."""
