# SPDX-License-Identifier: Apache-2.0
"""The display of a lane: the screen that shows a session's images to a camera."""
