-- SPDX-License-Identifier: Apache-2.0
create table notice_subjects (
    -- What a notice is about, so that no program reads its text: the image that a team could not
    -- get, the name of the lane, or neither. The notices of 1.0 have no row.
    notice_id integer primary key references notices,
    session_id integer references sessions,
    image_id integer check (image_id > 0),
    lane text check (lane <> '')
) strict;

create index notice_subjects_by_session on notice_subjects (session_id);
