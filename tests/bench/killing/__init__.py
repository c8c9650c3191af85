# SPDX-License-Identifier: Apache-2.0
"""Sessions of a real event whose processes are killed as a seed decides, and their fates."""
