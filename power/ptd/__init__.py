# SPDX-License-Identifier: Apache-2.0
"""The line protocol of SPEC's PTDaemon, spoken for rehearsals of MLPerf Power."""
