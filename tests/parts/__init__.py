# SPDX-License-Identifier: Apache-2.0
"""The page that shows each part of the pages in each state: for those who build pages."""
