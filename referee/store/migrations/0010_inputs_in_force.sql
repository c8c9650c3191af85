-- SPDX-License-Identifier: Apache-2.0
create table proposed_inputs (
    -- The files that a proposal scores with, by role. Those of the newest proposal that was applied
    -- hold for the sessions that come. The bytes of a blacklist are in blacklists.
    proposal_id integer not null references proposals,
    name text not null check (name in ('ground_truth', 'sizes', 'blacklist')),
    path text not null check (path != ''),
    sha256 text not null check (length(sha256) = 64),
    primary key (proposal_id, name)
) strict;
