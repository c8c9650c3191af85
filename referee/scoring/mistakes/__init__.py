# SPDX-License-Identifier: Apache-2.0
"""Find the classic mistakes of a contestant's program in what it sent."""
