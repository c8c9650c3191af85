-- SPDX-License-Identifier: Apache-2.0
-- Why answers were refused, in the words that their sender got: a rehearsal's report tells the
-- commonest reason. The requests themselves stand in the table of requests. Like all facts, these
-- rows only grow.

create table refused_answers (
    refused_id integer primary key autoincrement,
    session_id integer not null references sessions,
    reason text not null
) strict;

create index refused_answers_by_session on refused_answers (session_id, refused_id);

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
    where exists (select 1 from refused_answers where refused_id = new.refused_id);
end;

create trigger refused_answers_join_the_chain after insert on refused_answers
begin
    insert into new_links values (new.session_id, 'refused_answers', new.refused_id, row_digest(
        'refused_answers', new.refused_id, new.session_id, new.reason
    ));
end;
