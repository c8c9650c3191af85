-- SPDX-License-Identifier: Apache-2.0
-- The schema that the migrations make. This file is for people: 'make schema' writes it, and no
-- program reads it. First come the tables with their own rules, as the migrations have them. Then
-- come the triggers that all tables of facts have, as referee/store/schema.py makes them.

create table migrations (
    -- The scripts that made this schema, by room and name.
    name text primary key check (name like '%_/_%')
) strict;

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

create table inputs (
    -- The files that a contest was made from, so that a later scoring can tell whether they
    -- changed.
    name text primary key,
    path text not null,
    sha256 text not null check (length(sha256) = 64)
) strict;

create trigger images_no_update before update of
    image_id, source_id, media_type, size_bytes, sha256, width, height on images
when exists (select 1 from sessions)
begin
    select raise(abort, 'images stay as they are while there are sessions');
end;

create trigger images_no_delete before delete on images when exists (select 1 from sessions)
begin
    select raise(abort, 'images stay as they are while there are sessions');
end;

create trigger images_no_insert before insert on images when exists (select 1 from sessions)
begin
    select raise(abort, 'images stay as they are while there are sessions');
end;

create trigger classes_no_update before update on classes when exists (select 1 from sessions)
begin
    select raise(abort, 'classes stay as they are while there are sessions');
end;

create trigger classes_no_delete before delete on classes when exists (select 1 from sessions)
begin
    select raise(abort, 'classes stay as they are while there are sessions');
end;

create trigger classes_no_insert before insert on classes when exists (select 1 from sessions)
begin
    select raise(abort, 'classes stay as they are while there are sessions');
end;

create trigger inputs_no_update before update of name, sha256 on inputs
when exists (select 1 from sessions)
begin
    select raise(abort, 'input files stay as they are while there are sessions');
end;

create trigger inputs_no_delete before delete on inputs when exists (select 1 from sessions)
begin
    select raise(abort, 'input files stay as they are while there are sessions');
end;

create trigger inputs_no_insert before insert on inputs when exists (select 1 from sessions)
begin
    select raise(abort, 'input files stay as they are while there are sessions');
end;

create table materials (
    -- What the sessions after it are run with: a digest of images, classes and input files, and the
    -- text of contest.toml.
    material_id integer primary key autoincrement,
    images text not null check (length(images) = 64),
    configuration text not null
) strict;

create table blacklists (
    -- The bytes of each blacklist that scores rest on, so that a bundle can hold them: the
    -- contest's own ones, and those of proposals. They are known by their SHA-256, as in inputs and
    -- in a score.
    blacklist_id integer primary key autoincrement,
    sha256 text not null unique check (length(sha256) = 64),
    content blob not null
) strict;

create table teams (
    team_id integer primary key autoincrement,
    name text not null unique check (length(name) between 1 and 100),
    created_utc text not null
) strict;

create table registrations (
    -- The newest row of a team tells its state; organisation and prizes are as that row says. A
    -- team without sessions hands in models only: it has no place in the running order.
    registration_id integer primary key autoincrement,
    team_id integer not null references teams,
    kind text not null check (kind in ('registered', 'withdrawn', 'returned', 'removed')),
    organisation text not null,
    prizes integer not null check (prizes in (0, 1)),
    reason text not null,
    operator text not null,
    utc text not null,
    sessions integer not null default 1 check (sessions in (0, 1))
) strict;

create index registrations_by_team on registrations (team_id, registration_id);

create table team_renames (
    rename_id integer primary key autoincrement,
    team_id integer not null references teams,
    name text not null check (length(name) between 1 and 100),
    operator text not null,
    utc text not null
) strict;

create index team_renames_by_team on team_renames (team_id, rename_id);

create trigger team_renames_free_name before insert on team_renames
begin
    -- Evidence holds the names of its time, so a name never goes from one team to another.
    select raise(abort, 'another team has or had this name')
    where exists (select 1 from teams where name = new.name and team_id != new.team_id)
        or exists (select 1 from team_renames where name = new.name and team_id != new.team_id);
end;

create trigger teams_free_name before insert on teams
begin
    select raise(abort, 'another team has or had this name')
    where exists (select 1 from team_renames where name = new.name);
end;

create view named_teams as
    -- Each team under its present name.
    select team_id, created_utc, name as first_name, coalesce((
        select renamed.name from team_renames as renamed
        where renamed.team_id = teams.team_id order by rename_id desc limit 1
    ), name) as name
    from teams;

create table team_lanes (
    -- A team may be bound to the lane of this name, for example because its device needs the other
    -- mains voltage. The newest row of a team counts; empty, or no row: it takes any lane.
    team_lane_id integer primary key autoincrement,
    team_id integer not null references teams,
    lane text not null,
    operator text not null,
    utc text not null
) strict;

create index team_lanes_by_team on team_lanes (team_id, team_lane_id);

create table running_orders (
    -- The newest order counts. teams is a JSON list of team ids; a team that is not in it comes
    -- last.
    order_id integer primary key autoincrement,
    method text not null check (method in ('lottery', 'hand')),
    seed text,
    teams text not null,
    reason text not null,
    operator text not null,
    utc text not null,
    check ((method = 'lottery') = (seed is not null))
) strict;

create table sessions (
    -- A lane is a meter with at most one live session. The track says what an answer is.
    session_id integer primary key autoincrement,
    team_id integer not null references teams,
    length_s real not null check (length_s > 0),
    order_seed text,
    created_utc text not null,
    lane integer not null default 1 check (lane >= 1),
    track text not null default 'network' check (track != '')
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

create table session_marks (
    -- What operators write on a session: that they have seen its result, a note, that it is a
    -- rehearsal or counts after all.
    mark_id integer primary key autoincrement,
    session_id integer not null references sessions,
    kind text not null check (kind in ('seen', 'note', 'rehearsal', 'counts')),
    text text not null check (kind = 'seen' or text != ''),
    operator text not null,
    utc text not null
) strict;

create index session_marks_by_session on session_marks (session_id, mark_id);

create table extra_times (
    -- Time beyond the session's length.
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

create table fetched_images (
    -- It repeats what requests has.
    session_id integer not null references sessions,
    number integer not null check (number >= 1),
    primary key (session_id, number)
) strict, without rowid;

create table shows (
    -- A request for an image on the screen, and what became of it. The times are session times. A
    -- show that failed has no painted_s. screen is WIDTHxHEIGHT in pixels.
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

create table answer_formats (
    -- The formats in which answers may come, by name; see referee/formats/answer_formats.py.
    name text primary key
) strict;

create table answers (
    -- content: the rows of one answer, packed by the session's track.
    answer_id integer primary key autoincrement,
    session_id integer not null references sessions,
    elapsed_s real not null,
    utc text not null,
    late integer not null check (late in (0, 1)),
    format text not null references answer_formats,
    address text not null,
    row_count integer not null check (row_count >= 0),
    flagged_count integer not null check (flagged_count between 0 and row_count),
    content blob not null
) strict;

create index answers_by_session on answers (session_id, answer_id);

create index late_answers_by_session on answers (session_id) where late = 1;

create table refused_answers (
    -- Why answers were refused, in the words that their sender got: a rehearsal's report tells the
    -- commonest reason. The requests themselves stand in the table of requests.
    refused_id integer primary key autoincrement,
    session_id integer not null references sessions,
    reason text not null
) strict;

create index refused_answers_by_session on refused_answers (session_id, refused_id);

create table session_meters (
    -- The meter of a session at its start. Identity and settings are JSON; the settings are those
    -- that the meter reported. A session without a meter has no row.
    session_id integer primary key references sessions,
    utc text not null,
    emulated integer not null check (emulated in (0, 1)),
    identity text,
    settings text not null
) strict;

create table readings (
    -- Power factor, frequency and peaks tell how well the meter can measure the load. What is null
    -- has a reason in absent. elements is JSON: power and energy of each element where the sum of
    -- all was measured.
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
    flags text not null,
    power_factor real,
    frequency_hz real,
    voltage_peak_v real,
    current_peak_a real,
    elements text
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

create table reviews (
    -- Somebody has looked at an energy that is SUSPECT, and lets it count.
    review_id integer primary key autoincrement,
    energy_id integer not null unique references energies,
    reason text not null check (reason != ''),
    operator text not null,
    utc text not null
) strict;

create table score_snapshots (
    snapshot_id integer primary key autoincrement,
    session_id integer not null references sessions,
    upto_answer_id integer not null,
    utc text not null,
    accuracy real,
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
    accuracy real,
    score real,
    detail text not null
) strict;

create index scoring_runs_by_session on scoring_runs (session_id, run_id);

create table proposals (
    -- A proposal holds new scores that count only after it is applied.
    proposal_id integer primary key autoincrement,
    filter text not null,
    inputs text not null,
    reason text not null check (reason != ''),
    operator text not null,
    utc text not null
) strict;

create table proposed_scores (
    -- The newest run and energy of the session when the proposal was made, and what would replace
    -- them.
    proposal_id integer not null references proposals,
    session_id integer not null references sessions,
    old_run_id integer not null references scoring_runs,
    old_energy_id integer not null references energies,
    upto_answer_id integer not null,
    accuracy real,
    score real,
    detail text not null,
    energy text,
    primary key (proposal_id, session_id)
) strict;

create table proposal_skips (
    proposal_id integer not null references proposals,
    session_id integer not null references sessions,
    reason text not null check (reason != ''),
    primary key (proposal_id, session_id)
) strict;

create table proposal_ends (
    proposal_id integer primary key references proposals,
    kind text not null check (kind in ('applied', 'cancelled')),
    reason text not null check (reason != ''),
    operator text not null,
    utc text not null
) strict;

create table finalizations (
    -- The newest row tells whether the results are final. approved_by is a JSON list of names.
    finalization_id integer primary key autoincrement,
    kind text not null check (kind in ('final', 'reopened')),
    approved_by text not null,
    reason text not null,
    results text not null,
    utc text not null
) strict;

create table operator_changes (
    -- The newest row of a name tells its state. 'password' ends every login that began before it.
    change_id integer primary key autoincrement,
    name text not null check (length(name) between 1 and 100),
    kind text not null check (kind in ('added', 'password', 'removed')),
    role text not null check (role in ('operator', 'assistant')),
    password_hash text not null,
    actor text not null,
    utc text not null
) strict;

create index operator_changes_by_name on operator_changes (name, change_id);

create table operator_logins (
    -- A login holds while its change is the newest one of its name, and no row ends it.
    login_id integer primary key autoincrement,
    change_id integer not null references operator_changes,
    address text not null,
    utc text not null
) strict;

create table operator_logouts (
    login_id integer primary key references operator_logins,
    utc text not null
) strict;

create table audit (
    -- role: in which role somebody acted. refusal: why an action was refused; null for one that is
    -- done.
    audit_id integer primary key autoincrement,
    utc text not null,
    operator text not null,
    action text not null,
    session_id integer references sessions,
    detail text not null,
    role text not null default '',
    team_id integer references teams,
    reason text not null default '',
    refusal text
) strict;

create index audit_by_session on audit (session_id, audit_id);

create table notices (
    notice_id integer primary key autoincrement,
    session_id integer references sessions,
    utc text not null,
    level text not null check (level in ('info', 'warning', 'alarm')),
    text text not null
) strict;

create table check_findings (
    -- The findings of the slow checks. The newest of an item counts. basis is what it was found
    -- for: a finding of another version of the program, or of another meter, is out of date.
    finding_id integer primary key autoincrement,
    category text not null,
    item text not null,
    level text not null check (level in ('OK', 'WARN', 'FAIL')),
    text text not null,
    remedy text not null,
    basis text not null,
    utc text not null
) strict;

create index check_findings_by_item on check_findings (category, item, finding_id);

create table check_overrides (
    -- Who let a session be armed although a check had failed. An override holds for one finding
    -- with exactly this text, on one day of the laptop's calendar.
    override_id integer primary key autoincrement,
    category text not null,
    item text not null,
    text text not null,
    day text not null,
    reason text not null check (reason != ''),
    operator text not null,
    utc text not null
) strict;

create table check_override_ends (
    override_id integer primary key references check_overrides,
    reason text not null check (reason != ''),
    operator text not null,
    utc text not null
) strict;

create table public_changes (
    -- It numbers every change that the audience can notice, in the order of the commits, in the
    -- transaction of the change itself. So a reader who knows a number can ask what came after it,
    -- whatever process made the change and whatever died since. nonce tells a number from the same
    -- number of another database, or of one that was restored.
    change_id integer primary key,
    subject text not null
        check (subject in ('contest', 'state', 'team', 'session', 'judgement', 'awards')),
    subject_id integer not null,
    nonce text not null default (lower(hex(randomblob(4)))) check (length(nonce) = 8)
) strict;

create index public_changes_by_subject on public_changes (subject, subject_id, change_id);

create table freezes (
    -- An operator hides what happens from here on from the public, or shows it again.
    freeze_id integer primary key autoincrement,
    kind text not null check (kind in ('frozen', 'thawed')),
    operator text not null check (operator != ''),
    utc text not null
) strict;

create trigger freezes_in_turn before insert on freezes
begin
    select raise(abort, 'the scoreboard is frozen and thawed in turn')
    where new.kind = coalesce(
        (select kind from freezes order by freeze_id desc limit 1), 'thawed'
    );
end;

create table frozen_publications (
    -- publication is JSON: all that the public sees from this freeze to its thaw.
    freeze_id integer primary key references freezes,
    publication text not null
) strict;

create trigger teams_are_public after insert on teams
begin
    insert into public_changes (subject, subject_id) values ('team', new.team_id);
end;

create trigger registrations_are_public after insert on registrations
begin
    insert into public_changes (subject, subject_id) values ('team', new.team_id);
end;

create trigger team_renames_are_public after insert on team_renames
begin
    insert into public_changes (subject, subject_id) values ('team', new.team_id);
end;

create trigger session_events_are_public after insert on session_events
when new.kind in ('started', 'ended')
begin
    insert into public_changes (subject, subject_id) values ('session', new.session_id);
end;

create trigger first_start_is_public after insert on session_events
when new.kind = 'started' and not exists (
    select 1 from session_events where kind = 'started' and event_id != new.event_id
)
begin
    insert into public_changes (subject, subject_id) values ('state', 0);
end;

create trigger voids_are_public after insert on session_events
when new.kind = 'voided'
begin
    insert into public_changes (subject, subject_id) values ('session', new.session_id);
    insert into public_changes (subject, subject_id) values ('judgement', new.session_id);
end;

create trigger energies_are_public after insert on energies
begin
    insert into public_changes (subject, subject_id) values ('judgement', new.session_id);
end;

create trigger scoring_runs_are_public after insert on scoring_runs
begin
    insert into public_changes (subject, subject_id) values ('judgement', new.session_id);
end;

create trigger reviews_are_public after insert on reviews
begin
    insert into public_changes (subject, subject_id) select 'judgement', session_id
    from energies where energy_id = new.energy_id;
end;

create trigger finalizations_are_public after insert on finalizations
begin
    insert into public_changes (subject, subject_id) values ('awards', 0);
    insert into public_changes (subject, subject_id) values ('state', 0);
end;

create trigger freezes_are_public after insert on freezes
begin
    insert into public_changes (subject, subject_id) values ('state', 0);
end;

create table chain (
    -- session_id: whose fact it is; 0 for the event's own. strand ties the facts of one session
    -- together, and digest the facts of all, from the first to the last.
    link_id integer primary key autoincrement,
    session_id integer not null,
    subject text not null,
    row_id any not null,
    strand blob not null check (length(strand) = 32),
    digest blob not null check (length(digest) = 32)
) strict;

create index chain_by_session on chain (session_id, link_id);

create view new_links as select session_id, subject, row_id, strand as row_digest from chain;

create trigger new_links_join_the_chain instead of insert on new_links
begin
    insert into chain (session_id, subject, row_id, strand, digest) values (
        new.session_id, new.subject, new.row_id,
        linked(new.row_digest, (
            select strand from chain where session_id = new.session_id order by link_id desc limit 1
        )),
        linked(new.row_digest, (select digest from chain order by link_id desc limit 1))
    );
end;

create table session_addresses (
    -- The addresses that used a session. The first row is that of the login that began it.
    seen_id integer primary key autoincrement,
    session_id integer not null references sessions,
    address text not null,
    utc text not null,
    unique (session_id, address)
) strict;

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

create table unused_fields (
    -- The fields of refused forms that no list of an answer is, some of each form. post numbers the
    -- forms of a session from 1, and kind says why the field is not used.
    field_id integer primary key autoincrement,
    session_id integer not null references sessions,
    post integer not null check (post > 0),
    name text not null,
    kind text not null check (kind in ('file', 'brackets', 'spelling', 'coco', 'other_name',
        'content', 'no_name', 'query', 'unknown'))
) strict;

create index unused_fields_by_session on unused_fields (session_id, post);

create table image_counts (
    -- What was counted when images and ground truth were prepared last: the images that the ground
    -- truth lists, the images of the contest, those that are both, and the folder's other files.
    only_row integer primary key check (only_row = 1),
    listed integer not null check (listed >= 0),
    used integer not null check (used >= 0),
    used_listed integer not null check (used_listed between 0 and used),
    other_files integer not null check (other_files >= 0)
) strict;

create table notice_subjects (
    -- What a notice is about, so that no program reads its text: the image that a team could not
    -- get, the name of the lane, or neither. The notices of 1.0 have no row.
    notice_id integer primary key references notices,
    session_id integer references sessions,
    image_id integer check (image_id > 0),
    lane text check (lane <> '')
) strict;

create index notice_subjects_by_session on notice_subjects (session_id);

create table found_meters (
    -- Which meter a check has found, so that no program reads the finding's text.
    finding_id integer primary key references check_findings,
    maker text not null,
    model text not null,
    serial text not null,
    firmware text not null
) strict;

create table proposed_inputs (
    -- The files that a proposal scores with, by role. Those of the newest proposal that was applied
    -- hold for the sessions that come. The bytes of a blacklist are in blacklists.
    proposal_id integer not null references proposals,
    name text not null check (name in ('ground_truth', 'sizes', 'blacklist')),
    path text not null check (path != ''),
    sha256 text not null check (length(sha256) = 64),
    primary key (proposal_id, name)
) strict;

create table condition_reviews (
    -- Somebody lets a session count although it was not run as the others were. differences is a
    -- JSON list of what differed then: of each the condition, what it was, and what is usual.
    condition_review_id integer primary key autoincrement,
    session_id integer not null references sessions,
    differences text not null,
    reason text not null check (reason != ''),
    operator text not null,
    utc text not null
) strict;

create index condition_reviews_by_session on condition_reviews (session_id, condition_review_id);

create table nonces (
    -- What tells a session, or a login at the console, from another one of its number. A folder
    -- that was restored from a backup gives numbers again, and no token may be given twice. So a
    -- token is signed with the nonce, which is chance: no fact, without a link, and in no bundle.
    subject text not null check (subject in ('session', 'login')),
    row_id integer not null,
    nonce blob not null default (randomblob(16)) check (length(nonce) = 16),
    primary key (subject, row_id)
) strict;

create trigger session_has_a_nonce after insert on sessions
begin
    insert into nonces (subject, row_id) values ('session', new.session_id);
end;

create trigger login_has_a_nonce after insert on operator_logins
begin
    insert into nonces (subject, row_id) values ('login', new.login_id);
end;

create table empty_answers (
    -- The images for which an answer without rows was posted: the team saw nothing in them. number
    -- is the contestant's.
    empty_id integer primary key autoincrement,
    session_id integer not null references sessions,
    answer_id integer not null references answers,
    number integer not null check (number > 0)
) strict;

create index empty_answers_by_session on empty_answers (session_id, answer_id);

create table team_logins (
    -- The login of a team, beside its name. A renaming does not change it. The newest row of a team
    -- is shown, and each of its rows logs in. The registration says who gave it, and when. A team
    -- of an earlier version gets its login when its database is brought up to date. No score rests
    -- on a login, so it has no link, and is in no bundle.
    team_login_id integer primary key autoincrement,
    team_id integer not null references teams,
    login text not null check (
        length(login) between 1 and 20 and login not glob '*[^a-z0-9-]*'
    )
) strict;

create index team_logins_by_team on team_logins (team_id, team_login_id);

create index team_logins_by_login on team_logins (login);

create trigger team_logins_free_login before insert on team_logins
begin
    select raise(abort, 'another team has this login')
    where exists (select 1 from team_logins where login = new.login and team_id != new.team_id);
end;

create table decided_ranks (
    -- The rank of each session of a proposal when somebody applied or cancelled it: as it was then,
    -- and as the proposal makes it. Null without a rank. Other sessions may have moved since.
    -- A bundle of a session holds its ranks, and no proposals: so the proposal is no reference.
    proposal_id integer not null,
    session_id integer not null references sessions,
    old_rank integer,
    new_rank integer,
    primary key (proposal_id, session_id)
) strict;

create table session_clients (
    -- What the programs that logged in to a session call themselves: the header User-Agent. The
    -- first row is that of the login that began it.
    client_id integer primary key autoincrement,
    session_id integer not null references sessions,
    name text not null check (length(name) between 1 and 200 and name not glob '*[^ -~]*'),
    utc text not null,
    unique (session_id, name)
) strict;

create table ovic_entries (
    -- A model file that a team submitted. day is the UTC day that its limit counts. The file itself
    -- is in the folder models, under its SHA-256.
    entry_id integer primary key autoincrement,
    team_id integer not null references teams,
    task text not null check (task in ('detection', 'classification')),
    model_sha256 text not null check (length(model_sha256) = 64),
    size_bytes integer not null check (size_bytes > 0),
    file_name text not null,
    utc text not null,
    day text not null check (length(day) = 10),
    address text not null
) strict;

create index ovic_entries_by_team on ovic_entries (team_id, task, day);

create table ovic_events (
    -- state is the state after the event. An entry without events is received. text is for its
    -- team, detail is JSON for the operators. An accuracy is in percent. build says in words what
    -- measured: program, LiteRT, machine. round numbers an 'again' that was part of a round. struck is
    -- the 'scored' that counts no more.
    event_id integer primary key autoincrement,
    entry_id integer not null references ovic_entries,
    kind text not null,
    state text not null,
    utc text not null,
    actor text not null check (actor != ''),
    text text not null,
    accuracy real,
    latency_ms real,
    build text,
    round integer,
    struck integer references ovic_events,
    detail text not null,
    check ((kind = 'scored') = (accuracy is not null and latency_ms is not null)),
    check ((kind = 'scored') = (build is not null)),
    check (round is null or (kind = 'again' and round > 0)),
    check ((kind = 'struck') = (struck is not null))
) strict;

create index ovic_events_by_entry on ovic_events (entry_id, event_id);

create trigger ovic_events_in_order before insert on ovic_events
begin
    select raise(abort, 'an entry makes no such move')
    where (
        coalesce(
            (select state from ovic_events where entry_id = new.entry_id
                order by event_id desc limit 1),
            'received'
        ),
        new.kind,
        new.state
    ) not in (values
        ('received', 'validating', 'validating'),
        ('received', 'voided', 'void'),
        ('validating', 'refused', 'refused'),
        ('validating', 'waiting', 'waiting'),
        ('validating', 'interrupted', 'received'),
        ('validating', 'stopped', 'received'),
        ('validating', 'failed', 'failed'),
        ('validating', 'voided', 'void'),
        ('waiting', 'measuring', 'measuring'),
        ('waiting', 'voided', 'void'),
        ('measuring', 'refused', 'refused'),
        ('measuring', 'scored', 'scored'),
        ('measuring', 'interrupted', 'waiting'),
        ('measuring', 'stopped', 'waiting'),
        ('measuring', 'failed', 'failed'),
        ('measuring', 'voided', 'void'),
        ('refused', 'again', 'received'),
        ('refused', 'voided', 'void'),
        ('scored', 'again', 'again'),
        ('scored', 'struck', 'scored'),
        ('scored', 'voided', 'void'),
        ('again', 'remeasuring', 'remeasuring'),
        ('again', 'voided', 'void'),
        ('remeasuring', 'scored', 'scored'),
        ('remeasuring', 'kept', 'scored'),
        ('remeasuring', 'interrupted', 'again'),
        ('remeasuring', 'stopped', 'again'),
        ('remeasuring', 'voided', 'void'),
        ('failed', 'again', 'received'),
        ('failed', 'voided', 'void')
    );
end;

create trigger ovic_events_one_at_a_time before insert on ovic_events
when new.state in ('validating', 'measuring', 'remeasuring')
begin
    select raise(abort, 'another model runs')
    where exists (
        select 1 from ovic_entries as other
        where other.entry_id != new.entry_id and (
            select state from ovic_events where entry_id = other.entry_id
            order by event_id desc limit 1
        ) in ('validating', 'measuring', 'remeasuring')
    );
end;

create trigger answer_formats_no_update before update on answer_formats
begin
    select raise(abort, 'facts are append-only');
end;

create trigger answer_formats_no_delete before delete on answer_formats
begin
    select raise(abort, 'facts are append-only');
end;

create trigger answer_formats_no_replace before insert on answer_formats
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from answer_formats
        where name = new.name
    );
end;

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
    where exists (
        select 1 from answers
        where answer_id = new.answer_id
    );
end;

create trigger answers_join_the_chain after insert on answers
begin
    insert into new_links values (
        coalesce(new.session_id, 0), 'answers', new.answer_id, row_digest(
            'answers', new.answer_id, new.session_id, new.elapsed_s, new.utc, new.late, new.format,
            new.address, new.row_count, new.flagged_count, new.content
        )
    );
end;

create trigger audit_no_update before update on audit
begin
    select raise(abort, 'facts are append-only');
end;

create trigger audit_no_delete before delete on audit
begin
    select raise(abort, 'facts are append-only');
end;

create trigger audit_no_replace before insert on audit
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from audit
        where audit_id = new.audit_id
    );
end;

create trigger audit_join_the_chain after insert on audit
begin
    insert into new_links values (
        coalesce(new.session_id, 0), 'audit', new.audit_id, row_digest(
            'audit', new.audit_id, new.utc, new.operator, new.action, new.session_id, new.detail,
            new.role, new.team_id, new.reason, new.refusal
        )
    );
end;

create trigger blacklists_no_update before update on blacklists
begin
    select raise(abort, 'facts are append-only');
end;

create trigger blacklists_no_delete before delete on blacklists
begin
    select raise(abort, 'facts are append-only');
end;

create trigger blacklists_no_replace before insert on blacklists
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from blacklists
        where blacklist_id = new.blacklist_id or sha256 = new.sha256
    );
end;

create trigger blacklists_join_the_chain after insert on blacklists
begin
    insert into new_links values (
        0, 'blacklists', new.blacklist_id, row_digest(
            'blacklists', new.blacklist_id, new.sha256, new.content
        )
    );
end;

create trigger breaks_no_update before update on breaks
begin
    select raise(abort, 'facts are append-only');
end;

create trigger breaks_no_delete before delete on breaks
begin
    select raise(abort, 'facts are append-only');
end;

create trigger breaks_no_replace before insert on breaks
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from breaks
        where break_id = new.break_id
    );
end;

create trigger breaks_join_the_chain after insert on breaks
begin
    insert into new_links values (
        0, 'breaks', new.break_id, row_digest(
            'breaks', new.break_id, new.kind, new.text, new.until_utc, new.operator, new.utc
        )
    );
end;

create trigger chain_no_update before update on chain
begin
    select raise(abort, 'facts are append-only');
end;

create trigger chain_no_delete before delete on chain
begin
    select raise(abort, 'facts are append-only');
end;

create trigger chain_no_replace before insert on chain
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from chain
        where link_id = new.link_id
    );
end;

create trigger check_findings_no_update before update on check_findings
begin
    select raise(abort, 'facts are append-only');
end;

create trigger check_findings_no_delete before delete on check_findings
begin
    select raise(abort, 'facts are append-only');
end;

create trigger check_findings_no_replace before insert on check_findings
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from check_findings
        where finding_id = new.finding_id
    );
end;

create trigger check_findings_join_the_chain after insert on check_findings
begin
    insert into new_links values (
        0, 'check_findings', new.finding_id, row_digest(
            'check_findings', new.finding_id, new.category, new.item, new.level, new.text,
            new.remedy, new.basis, new.utc
        )
    );
end;

create trigger check_override_ends_no_update before update on check_override_ends
begin
    select raise(abort, 'facts are append-only');
end;

create trigger check_override_ends_no_delete before delete on check_override_ends
begin
    select raise(abort, 'facts are append-only');
end;

create trigger check_override_ends_no_replace before insert on check_override_ends
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from check_override_ends
        where override_id = new.override_id
    );
end;

create trigger check_override_ends_join_the_chain after insert on check_override_ends
begin
    insert into new_links values (
        0, 'check_override_ends', new.override_id, row_digest(
            'check_override_ends', new.override_id, new.reason, new.operator, new.utc
        )
    );
end;

create trigger check_overrides_no_update before update on check_overrides
begin
    select raise(abort, 'facts are append-only');
end;

create trigger check_overrides_no_delete before delete on check_overrides
begin
    select raise(abort, 'facts are append-only');
end;

create trigger check_overrides_no_replace before insert on check_overrides
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from check_overrides
        where override_id = new.override_id
    );
end;

create trigger check_overrides_join_the_chain after insert on check_overrides
begin
    insert into new_links values (
        0, 'check_overrides', new.override_id, row_digest(
            'check_overrides', new.override_id, new.category, new.item, new.text, new.day,
            new.reason, new.operator, new.utc
        )
    );
end;

create trigger condition_reviews_no_update before update on condition_reviews
begin
    select raise(abort, 'facts are append-only');
end;

create trigger condition_reviews_no_delete before delete on condition_reviews
begin
    select raise(abort, 'facts are append-only');
end;

create trigger condition_reviews_no_replace before insert on condition_reviews
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from condition_reviews
        where condition_review_id = new.condition_review_id
    );
end;

create trigger condition_reviews_join_the_chain after insert on condition_reviews
begin
    insert into new_links values (
        coalesce(new.session_id, 0), 'condition_reviews', new.condition_review_id, row_digest(
            'condition_reviews', new.condition_review_id, new.session_id, new.differences,
            new.reason, new.operator, new.utc
        )
    );
end;

create trigger decided_ranks_no_update before update on decided_ranks
begin
    select raise(abort, 'facts are append-only');
end;

create trigger decided_ranks_no_delete before delete on decided_ranks
begin
    select raise(abort, 'facts are append-only');
end;

create trigger decided_ranks_no_replace before insert on decided_ranks
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from decided_ranks
        where proposal_id = new.proposal_id and session_id = new.session_id
    );
end;

create trigger decided_ranks_join_the_chain after insert on decided_ranks
begin
    insert into new_links values (
        coalesce(new.session_id, 0), 'decided_ranks', new.proposal_id || '/' || new.session_id, row_digest(
            'decided_ranks', new.proposal_id, new.session_id, new.old_rank, new.new_rank
        )
    );
end;

create trigger empty_answers_no_update before update on empty_answers
begin
    select raise(abort, 'facts are append-only');
end;

create trigger empty_answers_no_delete before delete on empty_answers
begin
    select raise(abort, 'facts are append-only');
end;

create trigger empty_answers_no_replace before insert on empty_answers
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from empty_answers
        where empty_id = new.empty_id
    );
end;

create trigger empty_answers_join_the_chain after insert on empty_answers
begin
    insert into new_links values (
        coalesce(new.session_id, 0), 'empty_answers', new.empty_id, row_digest(
            'empty_answers', new.empty_id, new.session_id, new.answer_id, new.number
        )
    );
end;

create trigger energies_no_update before update on energies
begin
    select raise(abort, 'facts are append-only');
end;

create trigger energies_no_delete before delete on energies
begin
    select raise(abort, 'facts are append-only');
end;

create trigger energies_no_replace before insert on energies
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from energies
        where energy_id = new.energy_id
    );
end;

create trigger energies_join_the_chain after insert on energies
begin
    insert into new_links values (
        coalesce(new.session_id, 0), 'energies', new.energy_id, row_digest(
            'energies', new.energy_id, new.session_id, new.utc, new.energy_wh, new.uncertainty_wh,
            new.verdict, new.detail
        )
    );
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
    where exists (
        select 1 from extra_times
        where extra_id = new.extra_id
    );
end;

create trigger extra_times_join_the_chain after insert on extra_times
begin
    insert into new_links values (
        coalesce(new.session_id, 0), 'extra_times', new.extra_id, row_digest(
            'extra_times', new.extra_id, new.session_id, new.seconds, new.reason, new.operator,
            new.utc
        )
    );
end;

create trigger fetched_images_no_update before update on fetched_images
begin
    select raise(abort, 'facts are append-only');
end;

create trigger fetched_images_no_delete before delete on fetched_images
begin
    select raise(abort, 'facts are append-only');
end;

create trigger finalizations_no_update before update on finalizations
begin
    select raise(abort, 'facts are append-only');
end;

create trigger finalizations_no_delete before delete on finalizations
begin
    select raise(abort, 'facts are append-only');
end;

create trigger finalizations_no_replace before insert on finalizations
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from finalizations
        where finalization_id = new.finalization_id
    );
end;

create trigger finalizations_join_the_chain after insert on finalizations
begin
    insert into new_links values (
        0, 'finalizations', new.finalization_id, row_digest(
            'finalizations', new.finalization_id, new.kind, new.approved_by, new.reason,
            new.results, new.utc
        )
    );
end;

create trigger found_meters_no_update before update on found_meters
begin
    select raise(abort, 'facts are append-only');
end;

create trigger found_meters_no_delete before delete on found_meters
begin
    select raise(abort, 'facts are append-only');
end;

create trigger found_meters_no_replace before insert on found_meters
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from found_meters
        where finding_id = new.finding_id
    );
end;

create trigger found_meters_join_the_chain after insert on found_meters
begin
    insert into new_links values (
        0, 'found_meters', new.finding_id, row_digest(
            'found_meters', new.finding_id, new.maker, new.model, new.serial, new.firmware
        )
    );
end;

create trigger freezes_no_update before update on freezes
begin
    select raise(abort, 'facts are append-only');
end;

create trigger freezes_no_delete before delete on freezes
begin
    select raise(abort, 'facts are append-only');
end;

create trigger freezes_no_replace before insert on freezes
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from freezes
        where freeze_id = new.freeze_id
    );
end;

create trigger freezes_join_the_chain after insert on freezes
begin
    insert into new_links values (
        0, 'freezes', new.freeze_id, row_digest(
            'freezes', new.freeze_id, new.kind, new.operator, new.utc
        )
    );
end;

create trigger frozen_publications_no_update before update on frozen_publications
begin
    select raise(abort, 'facts are append-only');
end;

create trigger frozen_publications_no_delete before delete on frozen_publications
begin
    select raise(abort, 'facts are append-only');
end;

create trigger frozen_publications_no_replace before insert on frozen_publications
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from frozen_publications
        where freeze_id = new.freeze_id
    );
end;

create trigger frozen_publications_join_the_chain after insert on frozen_publications
begin
    insert into new_links values (
        0, 'frozen_publications', new.freeze_id, row_digest(
            'frozen_publications', new.freeze_id, new.publication
        )
    );
end;

create trigger materials_no_update before update on materials
begin
    select raise(abort, 'facts are append-only');
end;

create trigger materials_no_delete before delete on materials
begin
    select raise(abort, 'facts are append-only');
end;

create trigger materials_no_replace before insert on materials
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from materials
        where material_id = new.material_id
    );
end;

create trigger materials_join_the_chain after insert on materials
begin
    insert into new_links values (
        0, 'materials', new.material_id, row_digest(
            'materials', new.material_id, new.images, new.configuration
        )
    );
end;

create trigger migrations_no_update before update on migrations
begin
    select raise(abort, 'facts are append-only');
end;

create trigger migrations_no_delete before delete on migrations
begin
    select raise(abort, 'facts are append-only');
end;

create trigger migrations_no_replace before insert on migrations
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from migrations
        where name = new.name
    );
end;

create trigger nonces_no_update before update on nonces
begin
    select raise(abort, 'facts are append-only');
end;

create trigger nonces_no_delete before delete on nonces
begin
    select raise(abort, 'facts are append-only');
end;

create trigger nonces_no_replace before insert on nonces
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from nonces
        where subject = new.subject and row_id = new.row_id
    );
end;

create trigger notice_subjects_no_update before update on notice_subjects
begin
    select raise(abort, 'facts are append-only');
end;

create trigger notice_subjects_no_delete before delete on notice_subjects
begin
    select raise(abort, 'facts are append-only');
end;

create trigger notice_subjects_no_replace before insert on notice_subjects
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from notice_subjects
        where notice_id = new.notice_id
    );
end;

create trigger notice_subjects_join_the_chain after insert on notice_subjects
begin
    insert into new_links values (
        coalesce(new.session_id, 0), 'notice_subjects', new.notice_id, row_digest(
            'notice_subjects', new.notice_id, new.session_id, new.image_id, new.lane
        )
    );
end;

create trigger notices_no_update before update on notices
begin
    select raise(abort, 'facts are append-only');
end;

create trigger notices_no_delete before delete on notices
begin
    select raise(abort, 'facts are append-only');
end;

create trigger notices_no_replace before insert on notices
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from notices
        where notice_id = new.notice_id
    );
end;

create trigger notices_join_the_chain after insert on notices
begin
    insert into new_links values (
        coalesce(new.session_id, 0), 'notices', new.notice_id, row_digest(
            'notices', new.notice_id, new.session_id, new.utc, new.level, new.text
        )
    );
end;

create trigger operator_changes_no_update before update on operator_changes
begin
    select raise(abort, 'facts are append-only');
end;

create trigger operator_changes_no_delete before delete on operator_changes
begin
    select raise(abort, 'facts are append-only');
end;

create trigger operator_changes_no_replace before insert on operator_changes
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from operator_changes
        where change_id = new.change_id
    );
end;

create trigger operator_changes_join_the_chain after insert on operator_changes
begin
    insert into new_links values (
        0, 'operator_changes', new.change_id, row_digest(
            'operator_changes', new.change_id, new.name, new.kind, new.role, new.password_hash,
            new.actor, new.utc
        )
    );
end;

create trigger operator_logins_no_update before update on operator_logins
begin
    select raise(abort, 'facts are append-only');
end;

create trigger operator_logins_no_delete before delete on operator_logins
begin
    select raise(abort, 'facts are append-only');
end;

create trigger operator_logins_no_replace before insert on operator_logins
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from operator_logins
        where login_id = new.login_id
    );
end;

create trigger operator_logins_join_the_chain after insert on operator_logins
begin
    insert into new_links values (
        0, 'operator_logins', new.login_id, row_digest(
            'operator_logins', new.login_id, new.change_id, new.address, new.utc
        )
    );
end;

create trigger operator_logouts_no_update before update on operator_logouts
begin
    select raise(abort, 'facts are append-only');
end;

create trigger operator_logouts_no_delete before delete on operator_logouts
begin
    select raise(abort, 'facts are append-only');
end;

create trigger operator_logouts_no_replace before insert on operator_logouts
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from operator_logouts
        where login_id = new.login_id
    );
end;

create trigger operator_logouts_join_the_chain after insert on operator_logouts
begin
    insert into new_links values (
        0, 'operator_logouts', new.login_id, row_digest(
            'operator_logouts', new.login_id, new.utc
        )
    );
end;

create trigger ovic_entries_no_update before update on ovic_entries
begin
    select raise(abort, 'facts are append-only');
end;

create trigger ovic_entries_no_delete before delete on ovic_entries
begin
    select raise(abort, 'facts are append-only');
end;

create trigger ovic_entries_no_replace before insert on ovic_entries
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from ovic_entries
        where entry_id = new.entry_id
    );
end;

create trigger ovic_entries_join_the_chain after insert on ovic_entries
begin
    insert into new_links values (
        0, 'ovic_entries', new.entry_id, row_digest(
            'ovic_entries', new.entry_id, new.team_id, new.task, new.model_sha256, new.size_bytes,
            new.file_name, new.utc, new.day, new.address
        )
    );
end;

create trigger ovic_events_no_update before update on ovic_events
begin
    select raise(abort, 'facts are append-only');
end;

create trigger ovic_events_no_delete before delete on ovic_events
begin
    select raise(abort, 'facts are append-only');
end;

create trigger ovic_events_no_replace before insert on ovic_events
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from ovic_events
        where event_id = new.event_id
    );
end;

create trigger ovic_events_join_the_chain after insert on ovic_events
begin
    insert into new_links values (
        0, 'ovic_events', new.event_id, row_digest(
            'ovic_events', new.event_id, new.entry_id, new.kind, new.state, new.utc, new.actor,
            new.text, new.accuracy, new.latency_ms, new.build, new.round, new.struck, new.detail
        )
    );
end;

create trigger proposal_ends_no_update before update on proposal_ends
begin
    select raise(abort, 'facts are append-only');
end;

create trigger proposal_ends_no_delete before delete on proposal_ends
begin
    select raise(abort, 'facts are append-only');
end;

create trigger proposal_ends_no_replace before insert on proposal_ends
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from proposal_ends
        where proposal_id = new.proposal_id
    );
end;

create trigger proposal_ends_join_the_chain after insert on proposal_ends
begin
    insert into new_links values (
        0, 'proposal_ends', new.proposal_id, row_digest(
            'proposal_ends', new.proposal_id, new.kind, new.reason, new.operator, new.utc
        )
    );
end;

create trigger proposal_skips_no_update before update on proposal_skips
begin
    select raise(abort, 'facts are append-only');
end;

create trigger proposal_skips_no_delete before delete on proposal_skips
begin
    select raise(abort, 'facts are append-only');
end;

create trigger proposal_skips_no_replace before insert on proposal_skips
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from proposal_skips
        where proposal_id = new.proposal_id and session_id = new.session_id
    );
end;

create trigger proposal_skips_join_the_chain after insert on proposal_skips
begin
    insert into new_links values (
        0, 'proposal_skips', new.proposal_id || '/' || new.session_id, row_digest(
            'proposal_skips', new.proposal_id, new.session_id, new.reason
        )
    );
end;

create trigger proposals_no_update before update on proposals
begin
    select raise(abort, 'facts are append-only');
end;

create trigger proposals_no_delete before delete on proposals
begin
    select raise(abort, 'facts are append-only');
end;

create trigger proposals_no_replace before insert on proposals
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from proposals
        where proposal_id = new.proposal_id
    );
end;

create trigger proposals_join_the_chain after insert on proposals
begin
    insert into new_links values (
        0, 'proposals', new.proposal_id, row_digest(
            'proposals', new.proposal_id, new.filter, new.inputs, new.reason, new.operator, new.utc
        )
    );
end;

create trigger proposed_inputs_no_update before update on proposed_inputs
begin
    select raise(abort, 'facts are append-only');
end;

create trigger proposed_inputs_no_delete before delete on proposed_inputs
begin
    select raise(abort, 'facts are append-only');
end;

create trigger proposed_inputs_no_replace before insert on proposed_inputs
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from proposed_inputs
        where proposal_id = new.proposal_id and name = new.name
    );
end;

create trigger proposed_inputs_join_the_chain after insert on proposed_inputs
begin
    insert into new_links values (
        0, 'proposed_inputs', new.proposal_id || '/' || new.name, row_digest(
            'proposed_inputs', new.proposal_id, new.name, new.path, new.sha256
        )
    );
end;

create trigger proposed_scores_no_update before update on proposed_scores
begin
    select raise(abort, 'facts are append-only');
end;

create trigger proposed_scores_no_delete before delete on proposed_scores
begin
    select raise(abort, 'facts are append-only');
end;

create trigger proposed_scores_no_replace before insert on proposed_scores
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from proposed_scores
        where proposal_id = new.proposal_id and session_id = new.session_id
    );
end;

create trigger proposed_scores_join_the_chain after insert on proposed_scores
begin
    insert into new_links values (
        0, 'proposed_scores', new.proposal_id || '/' || new.session_id, row_digest(
            'proposed_scores', new.proposal_id, new.session_id, new.old_run_id, new.old_energy_id,
            new.upto_answer_id, new.accuracy, new.score, new.detail, new.energy
        )
    );
end;

create trigger public_changes_no_update before update on public_changes
begin
    select raise(abort, 'facts are append-only');
end;

create trigger public_changes_no_delete before delete on public_changes
begin
    select raise(abort, 'facts are append-only');
end;

create trigger public_changes_no_replace before insert on public_changes
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from public_changes
        where change_id = new.change_id
    );
end;

create trigger readings_no_update before update on readings
begin
    select raise(abort, 'facts are append-only');
end;

create trigger readings_no_delete before delete on readings
begin
    select raise(abort, 'facts are append-only');
end;

create trigger readings_no_replace before insert on readings
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from readings
        where reading_id = new.reading_id
    );
end;

create trigger readings_join_the_chain after insert on readings
begin
    insert into new_links values (
        coalesce(new.session_id, 0), 'readings', new.reading_id, row_digest(
            'readings', new.reading_id, new.session_id, new.elapsed_s, new.monotonic_s, new.utc,
            new.boot_id, new.voltage_v, new.current_a, new.power_w, new.energy_wh,
            new.integration_s, new.state, new.voltage_range_v, new.current_range_a, new.absent,
            new.flags, new.power_factor, new.frequency_hz, new.voltage_peak_v, new.current_peak_a,
            new.elements
        )
    );
end;

create trigger refused_answers_no_update before update on refused_answers
begin
    select raise(abort, 'facts are append-only');
end;

create trigger refused_answers_no_delete before delete on refused_answers
begin
    select raise(abort, 'facts are append-only');
end;

create trigger refused_answers_no_replace before insert on refused_answers
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from refused_answers
        where refused_id = new.refused_id
    );
end;

create trigger refused_answers_join_the_chain after insert on refused_answers
begin
    insert into new_links values (
        coalesce(new.session_id, 0), 'refused_answers', new.refused_id, row_digest(
            'refused_answers', new.refused_id, new.session_id, new.reason
        )
    );
end;

create trigger registrations_no_update before update on registrations
begin
    select raise(abort, 'facts are append-only');
end;

create trigger registrations_no_delete before delete on registrations
begin
    select raise(abort, 'facts are append-only');
end;

create trigger registrations_no_replace before insert on registrations
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from registrations
        where registration_id = new.registration_id
    );
end;

create trigger registrations_join_the_chain after insert on registrations
begin
    insert into new_links values (
        0, 'registrations', new.registration_id, row_digest(
            'registrations', new.registration_id, new.team_id, new.kind, new.organisation,
            new.prizes, new.reason, new.operator, new.utc, new.sessions
        )
    );
end;

create trigger requests_no_update before update on requests
begin
    select raise(abort, 'facts are append-only');
end;

create trigger requests_no_delete before delete on requests
begin
    select raise(abort, 'facts are append-only');
end;

create trigger requests_no_replace before insert on requests
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from requests
        where request_id = new.request_id
    );
end;

create trigger requests_join_the_chain after insert on requests
begin
    insert into new_links values (
        coalesce(new.session_id, 0), 'requests', new.request_id, row_digest(
            'requests', new.request_id, new.session_id, new.elapsed_s, new.utc, new.method,
            new.path, new.status, new.first_image, new.image_count, new.received_bytes,
            new.sent_bytes, new.duration_s, new.address
        )
    );
end;

create trigger reviews_no_update before update on reviews
begin
    select raise(abort, 'facts are append-only');
end;

create trigger reviews_no_delete before delete on reviews
begin
    select raise(abort, 'facts are append-only');
end;

create trigger reviews_no_replace before insert on reviews
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from reviews
        where review_id = new.review_id or energy_id = new.energy_id
    );
end;

create trigger reviews_join_the_chain after insert on reviews
begin
    insert into new_links values (
        0, 'reviews', new.review_id, row_digest(
            'reviews', new.review_id, new.energy_id, new.reason, new.operator, new.utc
        )
    );
end;

create trigger running_orders_no_update before update on running_orders
begin
    select raise(abort, 'facts are append-only');
end;

create trigger running_orders_no_delete before delete on running_orders
begin
    select raise(abort, 'facts are append-only');
end;

create trigger running_orders_no_replace before insert on running_orders
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from running_orders
        where order_id = new.order_id
    );
end;

create trigger running_orders_join_the_chain after insert on running_orders
begin
    insert into new_links values (
        0, 'running_orders', new.order_id, row_digest(
            'running_orders', new.order_id, new.method, new.seed, new.teams, new.reason,
            new.operator, new.utc
        )
    );
end;

create trigger score_snapshots_no_update before update on score_snapshots
begin
    select raise(abort, 'facts are append-only');
end;

create trigger score_snapshots_no_delete before delete on score_snapshots
begin
    select raise(abort, 'facts are append-only');
end;

create trigger score_snapshots_no_replace before insert on score_snapshots
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from score_snapshots
        where snapshot_id = new.snapshot_id
    );
end;

create trigger score_snapshots_join_the_chain after insert on score_snapshots
begin
    insert into new_links values (
        coalesce(new.session_id, 0), 'score_snapshots', new.snapshot_id, row_digest(
            'score_snapshots', new.snapshot_id, new.session_id, new.upto_answer_id, new.utc,
            new.accuracy, new.detection_count
        )
    );
end;

create trigger scoring_runs_no_update before update on scoring_runs
begin
    select raise(abort, 'facts are append-only');
end;

create trigger scoring_runs_no_delete before delete on scoring_runs
begin
    select raise(abort, 'facts are append-only');
end;

create trigger scoring_runs_no_replace before insert on scoring_runs
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from scoring_runs
        where run_id = new.run_id
    );
end;

create trigger scoring_runs_join_the_chain after insert on scoring_runs
begin
    insert into new_links values (
        coalesce(new.session_id, 0), 'scoring_runs', new.run_id, row_digest(
            'scoring_runs', new.run_id, new.session_id, new.upto_answer_id, new.energy_id,
            new.monotonic_s, new.utc, new.boot_id, new.accuracy, new.score, new.detail
        )
    );
end;

create trigger session_addresses_no_update before update on session_addresses
begin
    select raise(abort, 'facts are append-only');
end;

create trigger session_addresses_no_delete before delete on session_addresses
begin
    select raise(abort, 'facts are append-only');
end;

create trigger session_addresses_no_replace before insert on session_addresses
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from session_addresses
        where seen_id = new.seen_id or session_id = new.session_id and address = new.address
    );
end;

create trigger session_addresses_join_the_chain after insert on session_addresses
begin
    insert into new_links values (
        coalesce(new.session_id, 0), 'session_addresses', new.seen_id, row_digest(
            'session_addresses', new.seen_id, new.session_id, new.address, new.utc
        )
    );
end;

create trigger session_clients_no_update before update on session_clients
begin
    select raise(abort, 'facts are append-only');
end;

create trigger session_clients_no_delete before delete on session_clients
begin
    select raise(abort, 'facts are append-only');
end;

create trigger session_clients_no_replace before insert on session_clients
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from session_clients
        where client_id = new.client_id or session_id = new.session_id and name = new.name
    );
end;

create trigger session_clients_join_the_chain after insert on session_clients
begin
    insert into new_links values (
        coalesce(new.session_id, 0), 'session_clients', new.client_id, row_digest(
            'session_clients', new.client_id, new.session_id, new.name, new.utc
        )
    );
end;

create trigger session_events_no_update before update on session_events
begin
    select raise(abort, 'facts are append-only');
end;

create trigger session_events_no_delete before delete on session_events
begin
    select raise(abort, 'facts are append-only');
end;

create trigger session_events_no_replace before insert on session_events
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from session_events
        where event_id = new.event_id or session_id = new.session_id and kind = new.kind
    );
end;

create trigger session_events_join_the_chain after insert on session_events
begin
    insert into new_links values (
        coalesce(new.session_id, 0), 'session_events', new.event_id, row_digest(
            'session_events', new.event_id, new.session_id, new.kind, new.cause, new.actor,
            new.monotonic_s, new.utc, new.boot_id
        )
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
    where exists (
        select 1 from session_marks
        where mark_id = new.mark_id
    );
end;

create trigger session_marks_join_the_chain after insert on session_marks
begin
    insert into new_links values (
        coalesce(new.session_id, 0), 'session_marks', new.mark_id, row_digest(
            'session_marks', new.mark_id, new.session_id, new.kind, new.text, new.operator, new.utc
        )
    );
end;

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
    where exists (
        select 1 from session_meters
        where session_id = new.session_id
    );
end;

create trigger session_meters_join_the_chain after insert on session_meters
begin
    insert into new_links values (
        coalesce(new.session_id, 0), 'session_meters', new.session_id, row_digest(
            'session_meters', new.session_id, new.utc, new.emulated, new.identity, new.settings
        )
    );
end;

create trigger sessions_no_update before update on sessions
begin
    select raise(abort, 'facts are append-only');
end;

create trigger sessions_no_delete before delete on sessions
begin
    select raise(abort, 'facts are append-only');
end;

create trigger sessions_no_replace before insert on sessions
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from sessions
        where session_id = new.session_id
    );
end;

create trigger sessions_join_the_chain after insert on sessions
begin
    insert into new_links values (
        coalesce(new.session_id, 0), 'sessions', new.session_id, row_digest(
            'sessions', new.session_id, new.team_id, new.length_s, new.order_seed, new.created_utc,
            new.lane, new.track
        )
    );
    insert into new_links select
        coalesce(new.session_id, 0), 'teams', team_id, row_digest(
            'teams', team_id, name, created_utc
        )
    from teams where team_id = new.team_id;
    insert into new_links select
        coalesce(new.session_id, 0), 'materials', material_id, row_digest(
            'materials', material_id, images, configuration
        )
    from materials order by material_id desc limit 1;
end;

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
    where exists (
        select 1 from shows
        where show_id = new.show_id
    );
end;

create trigger shows_join_the_chain after insert on shows
begin
    insert into new_links values (
        coalesce(new.session_id, 0), 'shows', new.show_id, row_digest(
            'shows', new.show_id, new.session_id, new.image, new.frame, new.screen, new.utc,
            new.requested_s, new.announced_s, new.fetched_s, new.decoded_s, new.painted_s,
            new.outcome
        )
    );
end;

create trigger team_lanes_no_update before update on team_lanes
begin
    select raise(abort, 'facts are append-only');
end;

create trigger team_lanes_no_delete before delete on team_lanes
begin
    select raise(abort, 'facts are append-only');
end;

create trigger team_lanes_no_replace before insert on team_lanes
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from team_lanes
        where team_lane_id = new.team_lane_id
    );
end;

create trigger team_lanes_join_the_chain after insert on team_lanes
begin
    insert into new_links values (
        0, 'team_lanes', new.team_lane_id, row_digest(
            'team_lanes', new.team_lane_id, new.team_id, new.lane, new.operator, new.utc
        )
    );
end;

create trigger team_logins_no_update before update on team_logins
begin
    select raise(abort, 'facts are append-only');
end;

create trigger team_logins_no_delete before delete on team_logins
begin
    select raise(abort, 'facts are append-only');
end;

create trigger team_logins_no_replace before insert on team_logins
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from team_logins
        where team_login_id = new.team_login_id
    );
end;

create trigger team_renames_no_update before update on team_renames
begin
    select raise(abort, 'facts are append-only');
end;

create trigger team_renames_no_delete before delete on team_renames
begin
    select raise(abort, 'facts are append-only');
end;

create trigger team_renames_no_replace before insert on team_renames
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from team_renames
        where rename_id = new.rename_id
    );
end;

create trigger team_renames_join_the_chain after insert on team_renames
begin
    insert into new_links values (
        0, 'team_renames', new.rename_id, row_digest(
            'team_renames', new.rename_id, new.team_id, new.name, new.operator, new.utc
        )
    );
end;

create trigger teams_no_update before update on teams
begin
    select raise(abort, 'facts are append-only');
end;

create trigger teams_no_delete before delete on teams
begin
    select raise(abort, 'facts are append-only');
end;

create trigger teams_no_replace before insert on teams
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from teams
        where team_id = new.team_id or name = new.name
    );
end;

create trigger teams_join_the_chain after insert on teams
begin
    insert into new_links values (
        0, 'teams', new.team_id, row_digest(
            'teams', new.team_id, new.name, new.created_utc
        )
    );
end;

create trigger unused_fields_no_update before update on unused_fields
begin
    select raise(abort, 'facts are append-only');
end;

create trigger unused_fields_no_delete before delete on unused_fields
begin
    select raise(abort, 'facts are append-only');
end;

create trigger unused_fields_no_replace before insert on unused_fields
begin
    select raise(abort, 'facts are append-only')
    where exists (
        select 1 from unused_fields
        where field_id = new.field_id
    );
end;

create trigger unused_fields_join_the_chain after insert on unused_fields
begin
    insert into new_links values (
        coalesce(new.session_id, 0), 'unused_fields', new.field_id, row_digest(
            'unused_fields', new.field_id, new.session_id, new.post, new.name, new.kind
        )
    );
end;
