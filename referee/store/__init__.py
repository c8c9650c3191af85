# SPDX-License-Identifier: Apache-2.0
"""The only code that knows SQLite: the schema, transactions, and one query module per subject."""
