# SPDX-License-Identifier: Apache-2.0
"""Write power logs, read them back, judge and draw them."""
