# SPDX-License-Identifier: Apache-2.0
"""The pictures of the documents, all taken by one command from one event that is really played."""
