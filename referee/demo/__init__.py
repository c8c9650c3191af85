# SPDX-License-Identifier: Apache-2.0
"""What a session on one machine needs beside the referee: pictures, their truth, answers."""
