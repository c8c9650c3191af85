# SPDX-License-Identifier: Apache-2.0
"""Set a contest up: configuration, keys, images, and what every process opens."""
