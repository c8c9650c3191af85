# SPDX-License-Identifier: Apache-2.0
"""The slips that an operator hands to the teams: a page to print on A4 and to cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

NOWHERE: Mapping[str, str] = {}
"""No team is bound to a lane."""


@dataclass(frozen=True)
class Venue:
    """What every slip says: the contest, where to connect, and the rules in one line.

    `lanes` has the addresses of each lane by its name; a single lane has the name ''. `wifi` is the
    name and the password of the wireless network, or None for a cable. `ca` names the file that
    the teams' clients trust, and is '' without one.
    """

    contest: str
    lanes: Mapping[str, Sequence[str]]
    wifi: tuple[str, str] | None
    rules: str
    ca: str = ""


def rules_line(seconds: int) -> str:
    """Return the rules in one line, for a session of so many seconds."""
    minutes, rest = divmod(seconds, 60)
    length = f"{minutes} minutes" if minutes and not rest else f"{seconds} seconds"
    return (
        f"Clock and meter run from login to logout, {length} at most. Answers count if they are in "
        "by then. Score = mAP/Wh."
    )


def slips_page(
    venue: Venue, passwords: Mapping[str, str], bound: Mapping[str, str] = NOWHERE
) -> str:
    """Return a page with a slip for each team, four on a sheet of A4, with lines to cut along.

    `bound` has the only lane of each team that is bound to one.
    """
    slips = "\n".join(
        _slip(venue, team, password, bound.get(team, "")) for team, password in passwords.items()
    )
    return _PAGE.format(title=escape(venue.contest), slips=slips)


def _slip(venue: Venue, team: str, password: str, lane: str) -> str:
    rows = [("User name", team), ("Password", password)]
    if lane:
        rows.append(("Lane", f"{lane}, and no other"))
    own = {name: urls for name, urls in venue.lanes.items() if lane in (name, "")} or venue.lanes
    for name, urls in own.items():
        title = f"Referee, lane {name}" if name and not lane else "Referee"
        rows.append((title, " or ".join(urls) or "________________________"))
    if venue.wifi is None:
        rows.append(("Network", "the cable at the table"))
    else:
        rows += [("Wi-Fi", venue.wifi[0]), ("Wi-Fi password", venue.wifi[1])]
    cells = "\n".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in rows)
    ca = f'<p class="rules">CA file: {escape(venue.ca)}</p>\n' if venue.ca else ""
    return (
        f'<section><p class="contest">{escape(venue.contest)}</p><h1>{escape(team)}</h1>\n'
        f'<dl>\n{cells}\n</dl>\n{ca}<p class="rules">{escape(venue.rules)}</p></section>'
    )


# The page stands alone. It asks for nothing from any network.
_PAGE = """<!doctype html>
<!-- SPDX-License-Identifier: Apache-2.0 -->
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="robots" content="noindex">
<title>{title}: slips for the teams</title>
<style>
@page {{ size: A4; margin: 10mm; }}
* {{ box-sizing: border-box; }}
body {{ max-width: 190mm; margin: 0 auto; color: #000; background: #fff;
  font: 11pt/1.35 system-ui, sans-serif; overflow-wrap: anywhere; }}
section {{ min-height: 66mm; padding: 3.5mm 4mm; border-bottom: 1px dashed #000;
  break-inside: avoid; }}
section:first-of-type {{ border-top: 1px dashed #000; }}
p, h1, dl {{ margin: 0; }}
.contest {{ font-size: 9pt; }}
h1 {{ font-size: 16pt; line-height: 1.2; }}
dl {{ display: grid; grid-template-columns: 34mm 1fr; gap: 1mm 3mm; margin: 2.5mm 0; }}
dt {{ color: #333; }}
dd {{ margin: 0; white-space: pre-wrap;
  font: 13pt/1.3 ui-monospace, "DejaVu Sans Mono", monospace; }}
.rules {{ font-size: 8.2pt; }}
.note {{ padding: 4mm; }}
@media print {{ .note {{ display: none; }} }}
</style>
</head>
<body>
<p class="note">Print this page on A4, cut along the dashed lines, then delete the file: it holds
the passwords.</p>
{slips}
</body>
</html>
"""
