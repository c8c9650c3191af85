# SPDX-License-Identifier: Apache-2.0
"""Sample clients for contestants, and tools for their detectors."""
