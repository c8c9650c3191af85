# SPDX-License-Identifier: Apache-2.0
"""Start the referee's processes, watch them, and stop them."""
