# SPDX-License-Identifier: Apache-2.0
"""The people of the console: who they are, whether they may come in, and what they did."""
