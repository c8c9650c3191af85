-- SPDX-License-Identifier: Apache-2.0
create table found_meters (
    -- Which meter a check has found, so that no program reads the finding's text.
    finding_id integer primary key references check_findings,
    maker text not null,
    model text not null,
    serial text not null,
    firmware text not null
) strict;
