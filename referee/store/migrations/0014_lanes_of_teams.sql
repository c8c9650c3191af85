-- SPDX-License-Identifier: Apache-2.0
-- A team may be bound to the lane of this name, for example because its device needs the other mains
-- voltage. The newest row of a team counts; empty, or no row: it takes any lane.
create table team_lanes (
    team_lane_id integer primary key autoincrement,
    team_id integer not null references teams,
    lane text not null,
    operator text not null,
    utc text not null
) strict;

create index team_lanes_by_team on team_lanes (team_id, team_lane_id);

create trigger team_lanes_join_the_chain after insert on team_lanes
begin
    insert into new_links values (0, 'team_lanes', new.team_lane_id, row_digest(
        'team_lanes', new.team_lane_id, new.team_id, new.lane, new.operator, new.utc
    ));
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
    where exists (select 1 from team_lanes where team_lane_id = new.team_lane_id);
end;
