# SPDX-License-Identifier: Apache-2.0
"""What a contestant starts from: clients for the referee and tools that a detector needs."""
