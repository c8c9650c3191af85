# SPDX-License-Identifier: Apache-2.0
"""The only code that knows Flask: the contestants' protocol and the operators' console."""
