# SPDX-License-Identifier: Apache-2.0
"""A test of a contest server against the protocol, with one line for each rule."""
