# SPDX-License-Identifier: Apache-2.0
"""Tables I-III of Gauen et al., "Low-Power Image Recognition Challenge", as printed."""

from __future__ import annotations

# Rank, mAP, energy in Wh, images processed, score. Rank 7 used the camera.
TABLE_II_2016 = (
    (1, "0.03469", "0.7891", 7347, "0.04369"),
    (2, "0.02602", "0.9371", 4900, "0.02777"),
    (3, "0.01952", "1.1095", 1779, "0.01760"),
    (4, "0.02905", "1.2475", 1824, "0.01676"),
    (5, "0.02060", "1.2625", 1758, "0.01632"),
    (6, "0.01315", "0.9199", 1020, "0.01430"),
    (7, "0.00251", "1.7835", 755, "0.00141"),
)

# Rank, mAP, energy in Wh, score; only the ten best are printed.
TABLE_III_2015 = (
    (1, "0.02971", "1.634", "0.01818"),
    (2, "0.01745", "1.457", "0.01198"),
    (3, "0.01816", "1.574", "0.01540"),
    (4, "0.00662", "1.381", "0.00479"),
    (5, "0.00519", "1.183", "0.00439"),
    (6, "0.00294", "1.421", "0.00207"),
    (7, "0.03222", "16.509", "0.00195"),
    (8, "0.00374", "2.070", "0.00181"),
    (9, "0.00391", "3.372", "0.00116"),
    (10, "0.00283", "3.435", "0.00082"),
)

# Rows whose printed score cannot be mAP / energy: year, rank, and the true quotient.
MISPRINTS = ((2016, 1, "0.04396"), (2016, 4, "0.02329"), (2015, 3, "0.01154"))

# Means of the summary: the cell and its printed value.
TABLE_I = {
    "2016, all": "0.02280",
    "2016, top 5": "0.0245",
    "2015, all": "0.00393",
    "2015, top 5": "0.0102",
    "improvement, all": "5.80215",
    "improvement, top 5": "2.4020",
}
SET_SIZE = 20_000
SESSION_H = 1 / 6
