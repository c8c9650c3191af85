# SPDX-License-Identifier: Apache-2.0
"""What differs between competitions: one module a track, see docs/tracks.md."""
