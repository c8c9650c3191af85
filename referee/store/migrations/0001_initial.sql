-- SPDX-License-Identifier: Apache-2.0
-- Facts are append-only: triggers refuse to change or delete them, whatever program tries. That
-- includes 'insert or replace', which deletes a row without its delete trigger.

create table images (
    image_id integer primary key check (image_id >= 1),
    source_id integer not null unique,
    path text not null,
    media_type text not null,
    size_bytes integer not null check (size_bytes > 0),
    modified_ns integer not null,
    sha256 text not null check (length(sha256) = 64),
    width integer not null check (width > 0),
    height integer not null check (height > 0)
) strict;

create table classes (
    class_id integer primary key,
    name text not null
) strict;

-- The files that a contest was made from, so that a later scoring can tell whether they changed.
create table inputs (
    name text primary key,
    path text not null,
    sha256 text not null check (length(sha256) = 64)
) strict;

create table teams (
    team_id integer primary key autoincrement,
    name text not null unique check (length(name) between 1 and 100),
    created_utc text not null
) strict;

create table sessions (
    session_id integer primary key autoincrement,
    team_id integer not null references teams,
    length_s real not null check (length_s > 0),
    order_seed text,
    created_utc text not null
) strict;

create table session_events (
    event_id integer primary key autoincrement,
    session_id integer not null references sessions,
    kind text not null check (kind in ('armed', 'started', 'ended', 'voided', 'sealed')),
    cause text,
    actor text not null,
    monotonic_s real not null,
    utc text not null,
    boot_id text not null,
    unique (session_id, kind),
    check (kind != 'ended' or coalesce(cause, '') in ('deadline', 'logout', 'stop'))
) strict;

create trigger session_events_one_at_a_time before insert on session_events
when new.kind in ('armed', 'started')
begin
    select raise(abort, 'another session is armed or running')
    where exists (
        select 1 from session_events as armed
        where armed.kind = 'armed' and armed.session_id != new.session_id
            and not exists (
                select 1 from session_events as over
                where over.session_id = armed.session_id and over.kind in ('ended', 'voided')
            )
    );
end;

create trigger session_events_in_order before insert on session_events
when new.kind in ('started', 'ended')
begin
    select raise(abort, 'a session starts after it is armed and ends after it started')
    where not exists (
        select 1 from session_events as before
        where before.session_id = new.session_id
            and before.kind = case new.kind when 'started' then 'armed' else 'started' end
    );
end;

create trigger session_events_final before insert on session_events
begin
    select raise(abort, 'a voided or sealed session takes no more events')
    where exists (
        select 1 from session_events as before
        where before.session_id = new.session_id and before.kind in ('voided', 'sealed')
    );
end;

create trigger session_events_seal_scored before insert on session_events
when new.kind = 'sealed'
begin
    select raise(abort, 'only a scored session is sealed')
    where not exists (select 1 from scoring_runs where session_id = new.session_id);
end;

-- detections: the columns of one answer, packed (see packing.py), 56 bytes a row.
create table answers (
    answer_id integer primary key autoincrement,
    session_id integer not null references sessions,
    elapsed_s real not null,
    utc text not null,
    late integer not null check (late in (0, 1)),
    form text not null check (form in ('form', 'json', 'csv')),
    address text not null,
    row_count integer not null check (row_count >= 0),
    flagged_count integer not null check (flagged_count between 0 and row_count),
    detections blob not null check (length(detections) = 56 * row_count)
) strict;

create index answers_by_session on answers (session_id, answer_id);
create index late_answers_by_session on answers (session_id) where late = 1;

create table fetched_images (
    session_id integer not null references sessions,
    number integer not null check (number >= 1),
    primary key (session_id, number)
) strict, without rowid;

create table requests (
    request_id integer primary key autoincrement,
    session_id integer not null references sessions,
    elapsed_s real not null,
    utc text not null,
    method text not null,
    path text not null,
    status integer not null,
    first_image integer,
    image_count integer not null default 0,
    received_bytes integer not null,
    sent_bytes integer not null,
    duration_s real not null,
    address text not null
) strict;

create index requests_by_session on requests (session_id, request_id);

create table readings (
    reading_id integer primary key autoincrement,
    session_id integer not null references sessions,
    elapsed_s real not null,
    monotonic_s real not null,
    utc text not null,
    boot_id text not null,
    voltage_v real,
    current_a real,
    power_w real,
    energy_wh real,
    integration_s real,
    state text not null,
    voltage_range_v real,
    current_range_a real,
    absent text not null,
    flags text not null
) strict;

create index readings_by_session on readings (session_id, reading_id);

create table energies (
    energy_id integer primary key autoincrement,
    session_id integer not null references sessions,
    utc text not null,
    energy_wh real,
    uncertainty_wh real,
    verdict text not null check (verdict in ('VALID', 'SUSPECT', 'INVALID')),
    detail text not null,
    check (verdict = 'INVALID' or energy_wh is not null)
) strict;

create index energies_by_session on energies (session_id, energy_id);

create table score_snapshots (
    snapshot_id integer primary key autoincrement,
    session_id integer not null references sessions,
    upto_answer_id integer not null,
    utc text not null,
    mean_ap real,
    detection_count integer not null
) strict;

create index score_snapshots_by_session on score_snapshots (session_id, snapshot_id);

create table scoring_runs (
    run_id integer primary key autoincrement,
    session_id integer not null references sessions,
    upto_answer_id integer not null,
    energy_id integer not null references energies,
    monotonic_s real not null,
    utc text not null,
    boot_id text not null,
    mean_ap real,
    score real,
    detail text not null
) strict;

create index scoring_runs_by_session on scoring_runs (session_id, run_id);

create table notices (
    notice_id integer primary key autoincrement,
    session_id integer references sessions,
    utc text not null,
    level text not null check (level in ('info', 'warning', 'alarm')),
    text text not null
) strict;

create table audit (
    audit_id integer primary key autoincrement,
    utc text not null,
    operator text not null,
    action text not null,
    session_id integer references sessions,
    detail text not null
) strict;

create trigger sessions_no_update before update on sessions
begin
    select raise(abort, 'facts are append-only');
end;

create trigger sessions_no_delete before delete on sessions
begin
    select raise(abort, 'facts are append-only');
end;

create trigger session_events_no_update before update on session_events
begin
    select raise(abort, 'facts are append-only');
end;

create trigger session_events_no_delete before delete on session_events
begin
    select raise(abort, 'facts are append-only');
end;

create trigger answers_no_update before update on answers
begin
    select raise(abort, 'facts are append-only');
end;

create trigger answers_no_delete before delete on answers
begin
    select raise(abort, 'facts are append-only');
end;

create trigger fetched_images_no_update before update on fetched_images
begin
    select raise(abort, 'facts are append-only');
end;

create trigger fetched_images_no_delete before delete on fetched_images
begin
    select raise(abort, 'facts are append-only');
end;

create trigger requests_no_update before update on requests
begin
    select raise(abort, 'facts are append-only');
end;

create trigger requests_no_delete before delete on requests
begin
    select raise(abort, 'facts are append-only');
end;

create trigger readings_no_update before update on readings
begin
    select raise(abort, 'facts are append-only');
end;

create trigger readings_no_delete before delete on readings
begin
    select raise(abort, 'facts are append-only');
end;

create trigger energies_no_update before update on energies
begin
    select raise(abort, 'facts are append-only');
end;

create trigger energies_no_delete before delete on energies
begin
    select raise(abort, 'facts are append-only');
end;

create trigger score_snapshots_no_update before update on score_snapshots
begin
    select raise(abort, 'facts are append-only');
end;

create trigger score_snapshots_no_delete before delete on score_snapshots
begin
    select raise(abort, 'facts are append-only');
end;

create trigger scoring_runs_no_update before update on scoring_runs
begin
    select raise(abort, 'facts are append-only');
end;

create trigger scoring_runs_no_delete before delete on scoring_runs
begin
    select raise(abort, 'facts are append-only');
end;

create trigger notices_no_update before update on notices
begin
    select raise(abort, 'facts are append-only');
end;

create trigger notices_no_delete before delete on notices
begin
    select raise(abort, 'facts are append-only');
end;

create trigger audit_no_update before update on audit
begin
    select raise(abort, 'facts are append-only');
end;

create trigger audit_no_delete before delete on audit
begin
    select raise(abort, 'facts are append-only');
end;

create trigger teams_no_update before update on teams
begin
    select raise(abort, 'facts are append-only');
end;

create trigger teams_no_delete before delete on teams
begin
    select raise(abort, 'facts are append-only');
end;

create trigger sessions_no_replace before insert on sessions
begin
    select raise(abort, 'facts are append-only')
    where exists (select 1 from sessions where session_id = new.session_id);
end;

create trigger session_events_no_replace before insert on session_events
begin
    select raise(abort, 'facts are append-only')
    where exists (select 1 from session_events where event_id = new.event_id
        or (session_id = new.session_id and kind = new.kind));
end;

create trigger answers_no_replace before insert on answers
begin
    select raise(abort, 'facts are append-only')
    where exists (select 1 from answers where answer_id = new.answer_id);
end;

create trigger requests_no_replace before insert on requests
begin
    select raise(abort, 'facts are append-only')
    where exists (select 1 from requests where request_id = new.request_id);
end;

create trigger readings_no_replace before insert on readings
begin
    select raise(abort, 'facts are append-only')
    where exists (select 1 from readings where reading_id = new.reading_id);
end;

create trigger energies_no_replace before insert on energies
begin
    select raise(abort, 'facts are append-only')
    where exists (select 1 from energies where energy_id = new.energy_id);
end;

create trigger score_snapshots_no_replace before insert on score_snapshots
begin
    select raise(abort, 'facts are append-only')
    where exists (select 1 from score_snapshots where snapshot_id = new.snapshot_id);
end;

create trigger scoring_runs_no_replace before insert on scoring_runs
begin
    select raise(abort, 'facts are append-only')
    where exists (select 1 from scoring_runs where run_id = new.run_id);
end;

create trigger notices_no_replace before insert on notices
begin
    select raise(abort, 'facts are append-only')
    where exists (select 1 from notices where notice_id = new.notice_id);
end;

create trigger audit_no_replace before insert on audit
begin
    select raise(abort, 'facts are append-only')
    where exists (select 1 from audit where audit_id = new.audit_id);
end;
