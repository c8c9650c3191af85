-- SPDX-License-Identifier: Apache-2.0
create table image_counts (
    -- What was counted when images and ground truth were prepared last: the images that the ground
    -- truth lists, the images of the contest, those that are both, and the folder's other files.
    only_row integer primary key check (only_row = 1),
    listed integer not null check (listed >= 0),
    used integer not null check (used >= 0),
    used_listed integer not null check (used_listed between 0 and used),
    other_files integer not null check (other_files >= 0)
) strict;
