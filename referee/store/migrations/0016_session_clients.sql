-- SPDX-License-Identifier: Apache-2.0
create table session_clients (
    -- What the programs that logged in to a session call themselves: the header User-Agent. The
    -- first row is that of the login that began it.
    client_id integer primary key autoincrement,
    session_id integer not null references sessions,
    name text not null check (length(name) between 1 and 200 and name not glob '*[^ -~]*'),
    utc text not null,
    unique (session_id, name)
) strict;
