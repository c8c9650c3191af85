# SPDX-License-Identifier: Apache-2.0
"""Everything that a session on one machine needs and nobody has to bring: pictures and answers."""
