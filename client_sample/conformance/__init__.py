# SPDX-License-Identifier: Apache-2.0
"""Hold a contest server to the protocol, one line a rule."""
