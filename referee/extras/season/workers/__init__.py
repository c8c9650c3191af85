# SPDX-License-Identifier: Apache-2.0
"""Those who do the work of a season: processes of this machine, or a Dask cluster."""
