-- SPDX-License-Identifier: Apache-2.0
-- What operators write on a session: that they have seen its result, a note, that it is a rehearsal
-- or counts after all; and time beyond its length. Like all facts, these rows only grow.

create table session_marks (
    mark_id integer primary key autoincrement,
    session_id integer not null references sessions,
    kind text not null check (kind in ('seen', 'note', 'rehearsal', 'counts')),
    text text not null check (kind = 'seen' or text != ''),
    operator text not null,
    utc text not null
) strict;

create index session_marks_by_session on session_marks (session_id, mark_id);

create table extra_times (
    extra_id integer primary key autoincrement,
    session_id integer not null references sessions,
    seconds integer not null check (seconds > 0),
    reason text not null check (reason != ''),
    operator text not null,
    utc text not null
) strict;

create index extra_times_by_session on extra_times (session_id, extra_id);

create trigger extra_times_before_the_end before insert on extra_times
begin
    select raise(abort, 'a session that is over takes no extra time')
    where exists (
        select 1 from session_events
        where session_id = new.session_id and kind in ('ended', 'voided', 'sealed')
    );
end;

create trigger session_marks_no_update before update on session_marks
begin
    select raise(abort, 'facts are append-only');
end;

create trigger session_marks_no_delete before delete on session_marks
begin
    select raise(abort, 'facts are append-only');
end;

create trigger session_marks_no_replace before insert on session_marks
begin
    select raise(abort, 'facts are append-only')
    where exists (select 1 from session_marks where mark_id = new.mark_id);
end;

create trigger extra_times_no_update before update on extra_times
begin
    select raise(abort, 'facts are append-only');
end;

create trigger extra_times_no_delete before delete on extra_times
begin
    select raise(abort, 'facts are append-only');
end;

create trigger extra_times_no_replace before insert on extra_times
begin
    select raise(abort, 'facts are append-only')
    where exists (select 1 from extra_times where extra_id = new.extra_id);
end;
