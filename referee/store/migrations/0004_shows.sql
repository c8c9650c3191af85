-- SPDX-License-Identifier: Apache-2.0
-- A show is a request for an image on the screen, and what became of it. Its times are session
-- times. A show that failed has no painted_s. screen is WIDTHxHEIGHT in pixels.

create table shows (
    show_id integer primary key autoincrement,
    session_id integer not null references sessions,
    image integer not null check (image >= 1),
    frame integer check (frame >= 1),
    screen text,
    utc text not null,
    requested_s real not null,
    announced_s real,
    fetched_s real,
    decoded_s real,
    painted_s real,
    outcome text not null check (outcome != ''),
    check ((outcome = 'painted') = (painted_s is not null)),
    check (painted_s is null or (frame is not null and announced_s is not null))
) strict;

create index shows_by_session on shows (session_id, show_id);

create trigger shows_no_update before update on shows
begin
    select raise(abort, 'facts are append-only');
end;

create trigger shows_no_delete before delete on shows
begin
    select raise(abort, 'facts are append-only');
end;

create trigger shows_no_replace before insert on shows
begin
    select raise(abort, 'facts are append-only')
    where exists (select 1 from shows where show_id = new.show_id);
end;
