# SPDX-License-Identifier: Apache-2.0
"""A board that measures models: its address, the agent that runs on it, and the link over SSH."""
