# SPDX-License-Identifier: Apache-2.0
"""The bar that final results put before every action that could change them."""

from __future__ import annotations

from referee.errors import Refusal
from referee.store.database import Connection
from referee.store.finals import is_final


def require_provisional(connection: Connection) -> None:
    """Raise `Refusal` (code `results_final`) if the results are final.

    Call it in the transaction of the action, so that an approval cannot come between.
    """
    if is_final(connection):
        raise Refusal(
            "results_final",
            "The results are final, so nothing can change. 'referee finalize --reopen' makes "
            "them provisional again, with a reason.",
        )
