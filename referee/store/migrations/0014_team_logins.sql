-- SPDX-License-Identifier: Apache-2.0
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
