-- SPDX-License-Identifier: Apache-2.0
create table session_addresses (
    -- The addresses that used a session. The first row is that of the login that began it.
    seen_id integer primary key autoincrement,
    session_id integer not null references sessions,
    address text not null,
    utc text not null,
    unique (session_id, address)
) strict;
