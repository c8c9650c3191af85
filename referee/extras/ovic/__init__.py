# SPDX-License-Identifier: Apache-2.0
"""OVIC: a contest that takes models, judges each on its pinned core, and ranks the best."""
