# SPDX-License-Identifier: Apache-2.0
"""What OVIC adds to the contest server and to the console."""
