# SPDX-License-Identifier: Apache-2.0
"""The material of a session on one machine: generated pictures, their truth, and answers."""
