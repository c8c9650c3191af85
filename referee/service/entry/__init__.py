# SPDX-License-Identifier: Apache-2.0
"""The service for contestants: logins, tokens, images and answers."""
