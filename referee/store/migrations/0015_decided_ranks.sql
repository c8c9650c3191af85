-- SPDX-License-Identifier: Apache-2.0
create table decided_ranks (
    -- The rank of each session of a proposal when somebody applied or cancelled it: as it was then,
    -- and as the proposal makes it. Null without a rank. Other sessions may have moved since.
    -- A bundle of a session holds its ranks, and no proposals: so the proposal is no reference.
    proposal_id integer not null,
    session_id integer not null references sessions,
    old_rank integer,
    new_rank integer,
    primary key (proposal_id, session_id)
) strict;
