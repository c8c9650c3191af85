-- SPDX-License-Identifier: Apache-2.0
-- Answers as JSON lines: one result a line.
insert into answer_formats values ('ndjson');
