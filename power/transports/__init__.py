# SPDX-License-Identifier: Apache-2.0
"""Transports of messages: real wires (PyVISA), and recorded conversations (replay)."""
