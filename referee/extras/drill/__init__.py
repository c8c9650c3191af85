# SPDX-License-Identifier: Apache-2.0
"""A drill trains the operators: an emulated event in which things go wrong."""
