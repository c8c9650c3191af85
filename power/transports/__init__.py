# SPDX-License-Identifier: Apache-2.0
"""Carry messages over real wires (PyVISA) and recorded ones (replay)."""
