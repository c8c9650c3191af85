# SPDX-License-Identifier: Apache-2.0
"""Power logs: write them, read them, judge them and draw them."""
