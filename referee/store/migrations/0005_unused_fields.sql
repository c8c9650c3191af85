-- SPDX-License-Identifier: Apache-2.0
create table unused_fields (
    -- The fields of refused forms that no list of an answer is, some of each form. post numbers the
    -- forms of a session from 1, and kind says why the field is not used.
    field_id integer primary key autoincrement,
    session_id integer not null references sessions,
    post integer not null check (post > 0),
    name text not null,
    kind text not null check (kind in ('file', 'brackets', 'spelling', 'coco', 'other_name',
        'content', 'no_name', 'query', 'unknown'))
) strict;

create index unused_fields_by_session on unused_fields (session_id, post);
