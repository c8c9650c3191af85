-- SPDX-License-Identifier: Apache-2.0
-- A session has a track, which says what an answer is. All earlier sessions belong to the network
-- track. The track packs the rows of an answer, so the schema no longer checks the packed length.
-- The old table checked it. A new table without that check replaces the old one.

alter table sessions add column track text not null default 'network' check (track != '');

alter table score_snapshots rename column mean_ap to accuracy;
alter table scoring_runs rename column mean_ap to accuracy;

create table answers_of_tracks (
    answer_id integer primary key autoincrement,
    session_id integer not null references sessions,
    elapsed_s real not null,
    utc text not null,
    late integer not null check (late in (0, 1)),
    format text not null check (format in ('form', 'json', 'csv')),
    address text not null,
    row_count integer not null check (row_count >= 0),
    flagged_count integer not null check (flagged_count between 0 and row_count),
    content blob not null
) strict;

insert into answers_of_tracks
select answer_id, session_id, elapsed_s, utc, late, form, address, row_count, flagged_count,
    detections
from answers;

-- This also drops the old table's indexes and triggers.
drop table answers;
alter table answers_of_tracks rename to answers;

create index answers_by_session on answers (session_id, answer_id);
create index late_answers_by_session on answers (session_id) where late = 1;

create trigger answers_no_update before update on answers
begin
    select raise(abort, 'facts are append-only');
end;

create trigger answers_no_delete before delete on answers
begin
    select raise(abort, 'facts are append-only');
end;

create trigger answers_no_replace before insert on answers
begin
    select raise(abort, 'facts are append-only')
    where exists (select 1 from answers where answer_id = new.answer_id);
end;
