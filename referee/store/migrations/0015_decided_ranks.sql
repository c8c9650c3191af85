-- SPDX-License-Identifier: Apache-2.0
create table decided_ranks (
    -- The rank of each session of a proposal when somebody applied or cancelled it: as it was then,
    -- and as the proposal makes it. Null without a rank. Other sessions may have moved since.
    proposal_id integer not null references proposals,
    session_id integer not null references sessions,
    old_rank integer,
    new_rank integer,
    primary key (proposal_id, session_id)
) strict;
