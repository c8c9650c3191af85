# SPDX-License-Identifier: Apache-2.0
"""Check whether an event is ready, and say what to do if it is not.

Each line says OK, WARN or FAIL. The console's page /check has the same list. While a FAIL stands no
session can be armed, unless somebody overrides it, with a reason. Exit code 1 means that a FAIL
stands.

Slow checks are made once, and count for a day: the golden client, durable commits, guessable
passwords, and the meter's error queue and clock. --again makes them anew, --quick never. While the
referee runs the command shows the running referee's list.

  referee check --config event/contest.toml
  referee check --again --config event/contest.toml

An override holds for what the check finds now, and until midnight. --take-back ends it. ITEM is the
name behind FAIL. A WARN that you know and let stand is acknowledged in the same way; the list
counts it no more. All of it stays on record with the name and the reason, as on the page.

  referee check --override official --reason 'a show without prizes' --config event/contest.toml
  referee check --acknowledge calibration --reason 'a borrowed meter' --config event/contest.toml
  referee check --take-back official --reason 'repaired' --config event/contest.toml
"""

from referee.commands.check.command import add_arguments, run

__all__ = ["add_arguments", "run"]
