# SPDX-License-Identifier: Apache-2.0
"""Serve contestants: logins, tokens, images, answers."""
