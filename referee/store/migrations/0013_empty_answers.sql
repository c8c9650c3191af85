-- SPDX-License-Identifier: Apache-2.0
create table empty_answers (
    -- The images for which an answer without rows was posted: the team saw nothing in them. number
    -- is the contestant's.
    empty_id integer primary key autoincrement,
    session_id integer not null references sessions,
    answer_id integer not null references answers,
    number integer not null check (number > 0)
) strict;

create index empty_answers_by_session on empty_answers (session_id, answer_id);
