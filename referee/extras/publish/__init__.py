# SPDX-License-Identifier: Apache-2.0
"""The site of an event: static files that any host can serve, and their renewal."""
