# SPDX-License-Identifier: Apache-2.0
"""Drive the Yokogawa WT310, WT310E, WT310HC, WT310EH, WT332(E) and WT333(E).

Page numbers in this package are those of IM WT310E-17EN, 2nd edition, unless they say otherwise.
"""
