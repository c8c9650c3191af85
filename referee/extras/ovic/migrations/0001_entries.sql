-- SPDX-License-Identifier: Apache-2.0
-- The models that teams submit, and what happens to them.

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
