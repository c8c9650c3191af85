# SPDX-License-Identifier: Apache-2.0
"""Checks before a session: is anything in its way?"""
