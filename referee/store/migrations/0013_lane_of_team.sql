-- SPDX-License-Identifier: Apache-2.0
-- A team may be bound to the lane of this name, for example because its device needs the other mains
-- voltage. Empty: it takes any lane.
alter table registrations add column lane text not null default '';
