# SPDX-License-Identifier: Apache-2.0
"""Drive a power meter: protocol, SCPI, Yokogawa WT310 driver, transports, recorder, emulator."""
