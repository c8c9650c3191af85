-- SPDX-License-Identifier: Apache-2.0
-- What the public may see, and since when. The first table numbers every change that the audience
-- can notice, in the order of the commits, in the transaction of the change itself. So a reader who
-- knows a number can ask what came after it, whatever process made the change and whatever died
-- since. nonce tells a number from the same number of another database, or of one that was restored.

create table public_changes (
    change_id integer primary key,
    subject text not null
        check (subject in ('contest', 'state', 'team', 'session', 'judgement', 'awards')),
    subject_id integer not null,
    nonce text not null default (lower(hex(randomblob(4)))) check (length(nonce) = 8)
) strict;

create index public_changes_by_subject on public_changes (subject, subject_id, change_id);

-- An operator hides what happens from here on from the public, or shows it again.
create table freezes (
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

-- publication is JSON: all that the public sees from this freeze to its thaw.
create table frozen_publications (
    freeze_id integer primary key references freezes,
    publication text not null
) strict;

-- Facts of before this table, each kind in its own order.
insert into public_changes (subject, subject_id) values ('contest', 0);
insert into public_changes (subject, subject_id) values ('state', 0);
insert into public_changes (subject, subject_id) select 'team', team_id from teams order by team_id;
insert into public_changes (subject, subject_id)
select 'session', session_id from session_events where kind = 'started' order by event_id;
insert into public_changes (subject, subject_id)
select 'judgement', session_id from energies order by energy_id;
insert into public_changes (subject, subject_id)
select 'awards', 0 where exists (select 1 from finalizations);

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
    where exists (select 1 from public_changes where change_id = new.change_id);
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
    where exists (select 1 from freezes where freeze_id = new.freeze_id);
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
    where exists (select 1 from frozen_publications where freeze_id = new.freeze_id);
end;
