-- SPDX-License-Identifier: Apache-2.0
-- The operators of the console, their logins, and what the audit tells beside an action's name.

-- The newest row of a name tells its state. 'password' ends every login that began before it.
create table operator_changes (
    change_id integer primary key autoincrement,
    name text not null check (length(name) between 1 and 100),
    kind text not null check (kind in ('added', 'password', 'removed')),
    role text not null check (role in ('operator', 'assistant')),
    password_hash text not null,
    actor text not null,
    utc text not null
) strict;

create index operator_changes_by_name on operator_changes (name, change_id);

-- A login holds while its change is the newest one of its name, and no row ends it.
create table operator_logins (
    login_id integer primary key autoincrement,
    change_id integer not null references operator_changes,
    address text not null,
    utc text not null
) strict;

create table operator_logouts (
    login_id integer primary key references operator_logins,
    utc text not null
) strict;

-- role: in which role somebody acted. refusal: why an action was refused; null for one that is done.
alter table audit add column role text not null default '';
alter table audit add column team_id integer references teams;
alter table audit add column reason text not null default '';
alter table audit add column refusal text;

create index audit_by_session on audit (session_id, audit_id);

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
    where exists (select 1 from operator_changes where change_id = new.change_id);
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
    where exists (select 1 from operator_logins where login_id = new.login_id);
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
    where exists (select 1 from operator_logouts where login_id = new.login_id);
end;
