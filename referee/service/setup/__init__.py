# SPDX-License-Identifier: Apache-2.0
"""The set-up of a contest: its configuration, keys, images and folder."""
