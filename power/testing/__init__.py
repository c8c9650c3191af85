# SPDX-License-Identifier: Apache-2.0
"""For tests of a driver, here or elsewhere: what each driver must do, and a device on HTTP."""
