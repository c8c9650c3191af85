-- SPDX-License-Identifier: Apache-2.0
-- What the checks before an event found, and who let a session be armed although one had failed.

-- The findings of the slow checks. The newest of an item counts. basis is what it was found for: a
-- finding of another version of the program, or of another meter, is out of date.
create table check_findings (
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

-- An override holds for one finding with exactly this text, on one day of the laptop's calendar.
create table check_overrides (
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
    where exists (select 1 from check_findings where finding_id = new.finding_id);
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
    where exists (select 1 from check_overrides where override_id = new.override_id);
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
    where exists (select 1 from check_override_ends where override_id = new.override_id);
end;
