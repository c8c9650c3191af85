# SPDX-License-Identifier: Apache-2.0
"""Run a WSGI application under gunicorn, and bound what a request may take."""
