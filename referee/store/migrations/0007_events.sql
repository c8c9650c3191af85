-- SPDX-License-Identifier: Apache-2.0
-- What an event keeps beside its sessions: registrations, names, the running order, reviews,
-- proposals of new scores, and the final results. Like all facts, these rows only grow.

-- The newest row of a team tells its state; organisation and prizes are as that row says.
create table registrations (
    registration_id integer primary key autoincrement,
    team_id integer not null references teams,
    kind text not null check (kind in ('registered', 'withdrawn', 'returned', 'removed')),
    organisation text not null,
    prizes integer not null check (prizes in (0, 1)),
    reason text not null,
    operator text not null,
    utc text not null
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

-- Evidence holds the names of its time, so a name never goes from one team to another.
create trigger team_renames_free_name before insert on team_renames
begin
    select raise(abort, 'another team has or had this name')
    where exists (select 1 from teams where name = new.name and team_id != new.team_id)
        or exists (select 1 from team_renames where name = new.name and team_id != new.team_id);
end;

create trigger teams_free_name before insert on teams
begin
    select raise(abort, 'another team has or had this name')
    where exists (select 1 from team_renames where name = new.name);
end;

-- Each team under its present name.
create view named_teams as
select team_id, created_utc, name as first_name, coalesce((
    select renamed.name from team_renames as renamed
    where renamed.team_id = teams.team_id order by rename_id desc limit 1
), name) as name
from teams;

-- The newest order counts. teams is a JSON list of team ids; a team that is not in it comes last.
create table running_orders (
    order_id integer primary key autoincrement,
    method text not null check (method in ('lottery', 'hand')),
    seed text,
    teams text not null,
    reason text not null,
    operator text not null,
    utc text not null,
    check ((method = 'lottery') = (seed is not null))
) strict;

-- Somebody has looked at an energy that is SUSPECT, and lets it count.
create table reviews (
    review_id integer primary key autoincrement,
    energy_id integer not null unique references energies,
    reason text not null check (reason != ''),
    operator text not null,
    utc text not null
) strict;

-- A proposal holds new scores that count only after it is applied.
create table proposals (
    proposal_id integer primary key autoincrement,
    filter text not null,
    inputs text not null,
    reason text not null check (reason != ''),
    operator text not null,
    utc text not null
) strict;

-- The newest run and energy of the session when the proposal was made, and what would replace them.
create table proposed_scores (
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

-- The newest row tells whether the results are final. approved_by is a JSON list of names.
create table finalizations (
    finalization_id integer primary key autoincrement,
    kind text not null check (kind in ('final', 'reopened')),
    approved_by text not null,
    reason text not null,
    results text not null,
    utc text not null
) strict;

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
    where exists (select 1 from registrations where registration_id = new.registration_id);
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
    where exists (select 1 from team_renames where rename_id = new.rename_id);
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
    where exists (select 1 from running_orders where order_id = new.order_id);
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
    where exists (select 1 from reviews where review_id = new.review_id or energy_id = new.energy_id);
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
    where exists (select 1 from proposals where proposal_id = new.proposal_id);
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
    where exists (select 1 from proposed_scores where proposal_id = new.proposal_id and session_id = new.session_id);
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
    where exists (select 1 from proposal_skips where proposal_id = new.proposal_id and session_id = new.session_id);
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
    where exists (select 1 from proposal_ends where proposal_id = new.proposal_id);
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
    where exists (select 1 from finalizations where finalization_id = new.finalization_id);
end;
