-- SPDX-License-Identifier: Apache-2.0
create table breaks (
    -- A break of the event, as an operator tells it to the audience; the newest row counts. text
    -- and until_utc are those of a break that begins.
    break_id integer primary key autoincrement,
    kind text not null check (kind in ('begun', 'over')),
    text text not null check ((kind = 'begun') = (text != '')),
    until_utc text check ((kind = 'begun') = (until_utc is not null)),
    operator text not null check (operator != ''),
    utc text not null
) strict;
