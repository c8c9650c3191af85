-- SPDX-License-Identifier: Apache-2.0
-- A lane is a meter with at most one live session. All earlier sessions ran in lane 1.

alter table sessions add column lane integer not null default 1 check (lane >= 1);

drop trigger session_events_one_at_a_time;

create trigger session_events_one_at_a_time before insert on session_events
when new.kind in ('armed', 'started')
begin
    select raise(abort, 'another session is armed or running')
    where exists (
        select 1 from session_events as armed
        join sessions as other using (session_id)
        where armed.kind = 'armed' and armed.session_id != new.session_id
            and other.lane = (select lane from sessions where session_id = new.session_id)
            and not exists (
                select 1 from session_events as over
                where over.session_id = armed.session_id and over.kind in ('ended', 'voided')
            )
    );
end;

-- The meter of a session at its start. Identity and settings are JSON; the settings are those that
-- the meter reported. A session without a meter has no row.
create table session_meters (
    session_id integer primary key references sessions,
    utc text not null,
    emulated integer not null check (emulated in (0, 1)),
    identity text,
    settings text not null
) strict;

create trigger session_meters_no_update before update on session_meters
begin
    select raise(abort, 'facts are append-only');
end;

create trigger session_meters_no_delete before delete on session_meters
begin
    select raise(abort, 'facts are append-only');
end;

create trigger session_meters_no_replace before insert on session_meters
begin
    select raise(abort, 'facts are append-only')
    where exists (select 1 from session_meters where session_id = new.session_id);
end;
