-- SPDX-License-Identifier: Apache-2.0
-- The bytes of each blacklist that scores rest on, so that a bundle can hold them: the contest's own
-- ones, and those of proposals. They are known by their SHA-256, as in `inputs` and in a score.
create table blacklists (
    blacklist_id integer primary key autoincrement,
    sha256 text not null unique check (length(sha256) = 64),
    content blob not null
) strict;

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
        select 1 from blacklists where blacklist_id = new.blacklist_id or sha256 = new.sha256
    );
end;

create trigger blacklists_join_the_chain after insert on blacklists
begin
    insert into new_links values (0, 'blacklists', new.blacklist_id, row_digest(
        'blacklists', new.blacklist_id, new.sha256, new.content
    ));
end;
