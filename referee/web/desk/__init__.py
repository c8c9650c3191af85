# SPDX-License-Identifier: Apache-2.0
"""Serve the operators' console."""
