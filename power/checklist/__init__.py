# SPDX-License-Identifier: Apache-2.0
"""What only a real meter can tell: a walk through open questions, and its report."""
