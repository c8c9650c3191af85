# SPDX-License-Identifier: Apache-2.0
"""The rules of a drill: which faults there are, when they come, and what the operators did."""
