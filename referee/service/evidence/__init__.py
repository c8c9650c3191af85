# SPDX-License-Identifier: Apache-2.0
"""Write down a session so that anybody can compute its score again."""
