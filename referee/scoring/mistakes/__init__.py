# SPDX-License-Identifier: Apache-2.0
"""A search for the classic mistakes of a contestant's program in the answers that it sent."""
