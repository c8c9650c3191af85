-- SPDX-License-Identifier: Apache-2.0
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

insert into nonces (subject, row_id) select 'session', session_id from sessions;

insert into nonces (subject, row_id) select 'login', login_id from operator_logins;
