# SPDX-License-Identifier: Apache-2.0
"""A guest that has nothing to do with images: chess in the breaks."""
