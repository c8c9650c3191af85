# SPDX-License-Identifier: Apache-2.0
"""The only code that knows SQLite: schema, transactions, and one module of queries a subject."""
