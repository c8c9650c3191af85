# SPDX-License-Identifier: Apache-2.0
"""The server: it runs a WSGI application under gunicorn, with limits for each client."""
