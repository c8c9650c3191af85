# SPDX-License-Identifier: Apache-2.0
"""What tokens, passwords and signatures rest on survives a power cut right after it was made."""

from __future__ import annotations

import pytest

from referee.service.entry.team_list import registered_teams
from referee.service.setup.secrets_file import load_secrets
from referee.service.setup.signing_key import ensure_signing_key
from tests.support.teams import give_password

pytestmark = pytest.mark.slow


def test_keys_and_teams_survive_a_power_cut(mortal):
    """A referee that starts on the disk again finds the same keys and the same teams."""
    folder = mortal.folder
    teams, configuration = folder / "teams.csv", folder / "contest.toml"

    def found():
        public = ensure_signing_key(folder, configuration)
        return load_secrets(folder), public.read_bytes(), registered_teams(teams)

    give_password(teams, "ants")
    before = found()
    mortal.lose_power()
    mortal.start_again()
    assert before == found()
    assert ["ants"] == list(before[-1])
