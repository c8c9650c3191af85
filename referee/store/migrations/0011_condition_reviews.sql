-- SPDX-License-Identifier: Apache-2.0
create table condition_reviews (
    -- Somebody lets a session count although it was not run as the others were. differences is a
    -- JSON list of what differed then: of each the condition, what it was, and what is usual.
    condition_review_id integer primary key autoincrement,
    session_id integer not null references sessions,
    differences text not null,
    reason text not null check (reason != ''),
    operator text not null,
    utc text not null
) strict;

create index condition_reviews_by_session on condition_reviews (session_id, condition_review_id);
