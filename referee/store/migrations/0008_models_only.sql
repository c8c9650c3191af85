-- SPDX-License-Identifier: Apache-2.0
-- A team may hand in models only: it has no session and no place in the running order.
alter table registrations add column sessions integer not null default 1 check (sessions in (0, 1));
