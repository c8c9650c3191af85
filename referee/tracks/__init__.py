# SPDX-License-Identifier: Apache-2.0
"""The tracks: each is a module with the rules of one competition, see docs/tracks.md."""
