-- SPDX-License-Identifier: Apache-2.0
-- Power factor, frequency and peaks tell how well the meter can measure the load. They are null in
-- readings of earlier versions, and where the column absent gives a reason. elements is JSON: power
-- and energy of each element where the sum of all was measured.

alter table readings add column power_factor real;
alter table readings add column frequency_hz real;
alter table readings add column voltage_peak_v real;
alter table readings add column current_peak_a real;
alter table readings add column elements text;
