# SPDX-License-Identifier: Apache-2.0
"""Holds a contest server to the protocol, with one line for each rule."""
