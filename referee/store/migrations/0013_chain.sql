-- SPDX-License-Identifier: Apache-2.0
-- The chain: one link for each stored fact, in the order of storing, in the transaction of the fact
-- itself. row_digest() and linked() come with the referee's connections (referee/store/chain.py), so
-- a program without them cannot add a fact. Two tables have no links: fetched_images repeats what
-- requests has, and public_changes numbers facts that have links.

-- What the sessions after it are run with: a digest of images, classes and input files, and the text
-- of contest.toml.
create table materials (
    material_id integer primary key autoincrement,
    images text not null check (length(images) = 64),
    configuration text not null
) strict;

-- session_id: whose fact it is; 0 for the event's own. strand ties the facts of one session
-- together, and digest the facts of all, from the first to the last.
create table chain (
    link_id integer primary key autoincrement,
    session_id integer not null,
    subject text not null,
    row_id any not null,
    strand blob not null check (length(strand) = 32),
    digest blob not null check (length(digest) = 32)
) strict;

create index chain_by_session on chain (session_id, link_id);

create view new_links as select session_id, subject, row_id, strand as row_digest from chain;

create trigger new_links_join_the_chain instead of insert on new_links
begin
    insert into chain (session_id, subject, row_id, strand, digest) values (
        new.session_id, new.subject, new.row_id,
        linked(new.row_digest, (
            select strand from chain where session_id = new.session_id order by link_id desc limit 1
        )),
        linked(new.row_digest, (select digest from chain order by link_id desc limit 1))
    );
end;

create trigger materials_join_the_chain after insert on materials
begin
    insert into new_links values (0, 'materials', new.material_id, row_digest(
        'materials', new.material_id, new.images, new.configuration
    ));
end;

create trigger teams_join_the_chain after insert on teams
begin
    insert into new_links values (0, 'teams', new.team_id, row_digest(
        'teams', new.team_id, new.name, new.created_utc
    ));
end;

create trigger registrations_join_the_chain after insert on registrations
begin
    insert into new_links values (0, 'registrations', new.registration_id, row_digest(
        'registrations', new.registration_id, new.team_id, new.kind, new.organisation,
        new.prizes, new.reason, new.operator, new.utc, new.sessions
    ));
end;

create trigger team_renames_join_the_chain after insert on team_renames
begin
    insert into new_links values (0, 'team_renames', new.rename_id, row_digest(
        'team_renames', new.rename_id, new.team_id, new.name, new.operator, new.utc
    ));
end;

create trigger running_orders_join_the_chain after insert on running_orders
begin
    insert into new_links values (0, 'running_orders', new.order_id, row_digest(
        'running_orders', new.order_id, new.method, new.seed, new.teams, new.reason,
        new.operator, new.utc
    ));
end;

create trigger operator_changes_join_the_chain after insert on operator_changes
begin
    insert into new_links values (0, 'operator_changes', new.change_id, row_digest(
        'operator_changes', new.change_id, new.name, new.kind, new.role, new.password_hash,
        new.actor, new.utc
    ));
end;

create trigger operator_logins_join_the_chain after insert on operator_logins
begin
    insert into new_links values (0, 'operator_logins', new.login_id, row_digest(
        'operator_logins', new.login_id, new.change_id, new.address, new.utc
    ));
end;

create trigger operator_logouts_join_the_chain after insert on operator_logouts
begin
    insert into new_links values (0, 'operator_logouts', new.login_id, row_digest(
        'operator_logouts', new.login_id, new.utc
    ));
end;

create trigger reviews_join_the_chain after insert on reviews
begin
    insert into new_links values (0, 'reviews', new.review_id, row_digest(
        'reviews', new.review_id, new.energy_id, new.reason, new.operator, new.utc
    ));
end;

create trigger proposals_join_the_chain after insert on proposals
begin
    insert into new_links values (0, 'proposals', new.proposal_id, row_digest(
        'proposals', new.proposal_id, new.filter, new.inputs, new.reason, new.operator, new.utc
    ));
end;

create trigger proposed_scores_join_the_chain after insert on proposed_scores
begin
    insert into new_links
    select 0, 'proposed_scores', new.proposal_id || '/' || new.session_id, row_digest(
        'proposed_scores', new.proposal_id, new.session_id, new.old_run_id, new.old_energy_id,
        new.upto_answer_id, new.accuracy, new.score, new.detail, new.energy
    );
end;

create trigger proposal_skips_join_the_chain after insert on proposal_skips
begin
    insert into new_links
    select 0, 'proposal_skips', new.proposal_id || '/' || new.session_id, row_digest(
        'proposal_skips', new.proposal_id, new.session_id, new.reason
    );
end;

create trigger proposal_ends_join_the_chain after insert on proposal_ends
begin
    insert into new_links values (0, 'proposal_ends', new.proposal_id, row_digest(
        'proposal_ends', new.proposal_id, new.kind, new.reason, new.operator, new.utc
    ));
end;

create trigger finalizations_join_the_chain after insert on finalizations
begin
    insert into new_links values (0, 'finalizations', new.finalization_id, row_digest(
        'finalizations', new.finalization_id, new.kind, new.approved_by, new.reason, new.results,
        new.utc
    ));
end;

create trigger freezes_join_the_chain after insert on freezes
begin
    insert into new_links values (0, 'freezes', new.freeze_id, row_digest(
        'freezes', new.freeze_id, new.kind, new.operator, new.utc
    ));
end;

create trigger frozen_publications_join_the_chain after insert on frozen_publications
begin
    insert into new_links values (0, 'frozen_publications', new.freeze_id, row_digest(
        'frozen_publications', new.freeze_id, new.publication
    ));
end;

create trigger check_findings_join_the_chain after insert on check_findings
begin
    insert into new_links values (0, 'check_findings', new.finding_id, row_digest(
        'check_findings', new.finding_id, new.category, new.item, new.level, new.text,
        new.remedy, new.basis, new.utc
    ));
end;

create trigger check_overrides_join_the_chain after insert on check_overrides
begin
    insert into new_links values (0, 'check_overrides', new.override_id, row_digest(
        'check_overrides', new.override_id, new.category, new.item, new.text, new.day,
        new.reason, new.operator, new.utc
    ));
end;

create trigger check_override_ends_join_the_chain after insert on check_override_ends
begin
    insert into new_links values (0, 'check_override_ends', new.override_id, row_digest(
        'check_override_ends', new.override_id, new.reason, new.operator, new.utc
    ));
end;

create trigger ovic_entries_join_the_chain after insert on ovic_entries
begin
    insert into new_links values (0, 'ovic_entries', new.entry_id, row_digest(
        'ovic_entries', new.entry_id, new.team_id, new.task, new.model_sha256, new.size_bytes,
        new.file_name, new.utc, new.day, new.address
    ));
end;

create trigger ovic_events_join_the_chain after insert on ovic_events
begin
    insert into new_links values (0, 'ovic_events', new.event_id, row_digest(
        'ovic_events', new.event_id, new.entry_id, new.kind, new.state, new.utc, new.actor,
        new.text, new.accuracy, new.latency_ms, new.detail
    ));
end;

-- A session's links begin with its row, its team, and what it is run with.
create trigger sessions_join_the_chain after insert on sessions
begin
    insert into new_links values (new.session_id, 'sessions', new.session_id, row_digest(
        'sessions', new.session_id, new.team_id, new.length_s, new.order_seed, new.created_utc,
        new.lane, new.track
    ));
    insert into new_links select new.session_id, 'teams', team_id, row_digest(
        'teams', team_id, name, created_utc
    ) from teams where team_id = new.team_id;
    insert into new_links select new.session_id, 'materials', material_id, row_digest(
        'materials', material_id, images, configuration
    ) from materials order by material_id desc limit 1;
end;

create trigger session_events_join_the_chain after insert on session_events
begin
    insert into new_links values (new.session_id, 'session_events', new.event_id, row_digest(
        'session_events', new.event_id, new.session_id, new.kind, new.cause, new.actor,
        new.monotonic_s, new.utc, new.boot_id
    ));
end;

create trigger session_meters_join_the_chain after insert on session_meters
begin
    insert into new_links values (new.session_id, 'session_meters', new.session_id, row_digest(
        'session_meters', new.session_id, new.utc, new.emulated, new.identity, new.settings
    ));
end;

create trigger answers_join_the_chain after insert on answers
begin
    insert into new_links values (new.session_id, 'answers', new.answer_id, row_digest(
        'answers', new.answer_id, new.session_id, new.elapsed_s, new.utc, new.late, new.format,
        new.address, new.row_count, new.flagged_count, new.content
    ));
end;

create trigger requests_join_the_chain after insert on requests
begin
    insert into new_links values (new.session_id, 'requests', new.request_id, row_digest(
        'requests', new.request_id, new.session_id, new.elapsed_s, new.utc, new.method, new.path,
        new.status, new.first_image, new.image_count, new.received_bytes, new.sent_bytes,
        new.duration_s, new.address
    ));
end;

create trigger readings_join_the_chain after insert on readings
begin
    insert into new_links values (new.session_id, 'readings', new.reading_id, row_digest(
        'readings', new.reading_id, new.session_id, new.elapsed_s, new.monotonic_s, new.utc,
        new.boot_id, new.voltage_v, new.current_a, new.power_w, new.energy_wh, new.integration_s,
        new.state, new.voltage_range_v, new.current_range_a, new.absent, new.flags,
        new.power_factor, new.frequency_hz, new.voltage_peak_v, new.current_peak_a, new.elements
    ));
end;

create trigger shows_join_the_chain after insert on shows
begin
    insert into new_links values (new.session_id, 'shows', new.show_id, row_digest(
        'shows', new.show_id, new.session_id, new.image, new.frame, new.screen, new.utc,
        new.requested_s, new.announced_s, new.fetched_s, new.decoded_s, new.painted_s,
        new.outcome
    ));
end;

create trigger energies_join_the_chain after insert on energies
begin
    insert into new_links values (new.session_id, 'energies', new.energy_id, row_digest(
        'energies', new.energy_id, new.session_id, new.utc, new.energy_wh, new.uncertainty_wh,
        new.verdict, new.detail
    ));
end;

create trigger score_snapshots_join_the_chain after insert on score_snapshots
begin
    insert into new_links values (new.session_id, 'score_snapshots', new.snapshot_id, row_digest(
        'score_snapshots', new.snapshot_id, new.session_id, new.upto_answer_id, new.utc,
        new.accuracy, new.detection_count
    ));
end;

create trigger scoring_runs_join_the_chain after insert on scoring_runs
begin
    insert into new_links values (new.session_id, 'scoring_runs', new.run_id, row_digest(
        'scoring_runs', new.run_id, new.session_id, new.upto_answer_id, new.energy_id,
        new.monotonic_s, new.utc, new.boot_id, new.accuracy, new.score, new.detail
    ));
end;

create trigger notices_join_the_chain after insert on notices
begin
    insert into new_links values (coalesce(new.session_id, 0), 'notices', new.notice_id, row_digest(
        'notices', new.notice_id, new.session_id, new.utc, new.level, new.text
    ));
end;

create trigger audit_join_the_chain after insert on audit
begin
    insert into new_links values (coalesce(new.session_id, 0), 'audit', new.audit_id, row_digest(
        'audit', new.audit_id, new.utc, new.operator, new.action, new.session_id, new.detail,
        new.role, new.team_id, new.reason, new.refusal
    ));
end;

create trigger session_marks_join_the_chain after insert on session_marks
begin
    insert into new_links values (new.session_id, 'session_marks', new.mark_id, row_digest(
        'session_marks', new.mark_id, new.session_id, new.kind, new.text, new.operator, new.utc
    ));
end;

create trigger extra_times_join_the_chain after insert on extra_times
begin
    insert into new_links values (new.session_id, 'extra_times', new.extra_id, row_digest(
        'extra_times', new.extra_id, new.session_id, new.seconds, new.reason, new.operator,
        new.utc
    ));
end;

-- Facts of before this table, each kind in its own order.
insert into new_links select 0, 'teams', team_id, row_digest(
    'teams', team_id, name, created_utc
) from teams order by team_id;
insert into new_links select 0, 'registrations', registration_id, row_digest(
    'registrations', registration_id, team_id, kind, organisation, prizes, reason, operator,
    utc, sessions
) from registrations order by registration_id;
insert into new_links select 0, 'team_renames', rename_id, row_digest(
    'team_renames', rename_id, team_id, name, operator, utc
) from team_renames order by rename_id;
insert into new_links select 0, 'running_orders', order_id, row_digest(
    'running_orders', order_id, method, seed, teams, reason, operator, utc
) from running_orders order by order_id;
insert into new_links select 0, 'operator_changes', change_id, row_digest(
    'operator_changes', change_id, name, kind, role, password_hash, actor, utc
) from operator_changes order by change_id;
insert into new_links select 0, 'operator_logins', login_id, row_digest(
    'operator_logins', login_id, change_id, address, utc
) from operator_logins order by login_id;
insert into new_links select 0, 'operator_logouts', login_id, row_digest(
    'operator_logouts', login_id, utc
) from operator_logouts order by login_id;
insert into new_links select 0, 'reviews', review_id, row_digest(
    'reviews', review_id, energy_id, reason, operator, utc
) from reviews order by review_id;
insert into new_links select 0, 'proposals', proposal_id, row_digest(
    'proposals', proposal_id, filter, inputs, reason, operator, utc
) from proposals order by proposal_id;
insert into new_links
select 0, 'proposed_scores', proposal_id || '/' || session_id, row_digest(
    'proposed_scores', proposal_id, session_id, old_run_id, old_energy_id, upto_answer_id,
    accuracy, score, detail, energy
) from proposed_scores order by proposal_id, session_id;
insert into new_links
select 0, 'proposal_skips', proposal_id || '/' || session_id, row_digest(
    'proposal_skips', proposal_id, session_id, reason
) from proposal_skips order by proposal_id, session_id;
insert into new_links select 0, 'proposal_ends', proposal_id, row_digest(
    'proposal_ends', proposal_id, kind, reason, operator, utc
) from proposal_ends order by proposal_id;
insert into new_links select 0, 'finalizations', finalization_id, row_digest(
    'finalizations', finalization_id, kind, approved_by, reason, results, utc
) from finalizations order by finalization_id;
insert into new_links select 0, 'freezes', freeze_id, row_digest(
    'freezes', freeze_id, kind, operator, utc
) from freezes order by freeze_id;
insert into new_links select 0, 'frozen_publications', freeze_id, row_digest(
    'frozen_publications', freeze_id, publication
) from frozen_publications order by freeze_id;
insert into new_links select 0, 'check_findings', finding_id, row_digest(
    'check_findings', finding_id, category, item, level, text, remedy, basis, utc
) from check_findings order by finding_id;
insert into new_links select 0, 'check_overrides', override_id, row_digest(
    'check_overrides', override_id, category, item, text, day, reason, operator, utc
) from check_overrides order by override_id;
insert into new_links select 0, 'check_override_ends', override_id, row_digest(
    'check_override_ends', override_id, reason, operator, utc
) from check_override_ends order by override_id;
insert into new_links select 0, 'ovic_entries', entry_id, row_digest(
    'ovic_entries', entry_id, team_id, task, model_sha256, size_bytes, file_name, utc, day,
    address
) from ovic_entries order by entry_id;
insert into new_links select 0, 'ovic_events', event_id, row_digest(
    'ovic_events', event_id, entry_id, kind, state, utc, actor, text, accuracy, latency_ms,
    detail
) from ovic_events order by event_id;
insert into new_links select session_id, 'sessions', session_id, row_digest(
    'sessions', session_id, team_id, length_s, order_seed, created_utc, lane, track
) from sessions order by session_id;
insert into new_links select session_id, 'session_events', event_id, row_digest(
    'session_events', event_id, session_id, kind, cause, actor, monotonic_s, utc, boot_id
) from session_events order by event_id;
insert into new_links select session_id, 'session_meters', session_id, row_digest(
    'session_meters', session_id, utc, emulated, identity, settings
) from session_meters order by session_id;
insert into new_links select session_id, 'answers', answer_id, row_digest(
    'answers', answer_id, session_id, elapsed_s, utc, late, format, address, row_count,
    flagged_count, content
) from answers order by answer_id;
insert into new_links select session_id, 'requests', request_id, row_digest(
    'requests', request_id, session_id, elapsed_s, utc, method, path, status, first_image,
    image_count, received_bytes, sent_bytes, duration_s, address
) from requests order by request_id;
insert into new_links select session_id, 'readings', reading_id, row_digest(
    'readings', reading_id, session_id, elapsed_s, monotonic_s, utc, boot_id, voltage_v,
    current_a, power_w, energy_wh, integration_s, state, voltage_range_v, current_range_a,
    absent, flags, power_factor, frequency_hz, voltage_peak_v, current_peak_a, elements
) from readings order by reading_id;
insert into new_links select session_id, 'shows', show_id, row_digest(
    'shows', show_id, session_id, image, frame, screen, utc, requested_s, announced_s,
    fetched_s, decoded_s, painted_s, outcome
) from shows order by show_id;
insert into new_links select session_id, 'energies', energy_id, row_digest(
    'energies', energy_id, session_id, utc, energy_wh, uncertainty_wh, verdict, detail
) from energies order by energy_id;
insert into new_links select session_id, 'score_snapshots', snapshot_id, row_digest(
    'score_snapshots', snapshot_id, session_id, upto_answer_id, utc, accuracy,
    detection_count
) from score_snapshots order by snapshot_id;
insert into new_links select session_id, 'scoring_runs', run_id, row_digest(
    'scoring_runs', run_id, session_id, upto_answer_id, energy_id, monotonic_s, utc, boot_id,
    accuracy, score, detail
) from scoring_runs order by run_id;
insert into new_links select coalesce(session_id, 0), 'notices', notice_id, row_digest(
    'notices', notice_id, session_id, utc, level, text
) from notices order by notice_id;
insert into new_links select coalesce(session_id, 0), 'audit', audit_id, row_digest(
    'audit', audit_id, utc, operator, action, session_id, detail, role, team_id, reason,
    refusal
) from audit order by audit_id;
insert into new_links select session_id, 'session_marks', mark_id, row_digest(
    'session_marks', mark_id, session_id, kind, text, operator, utc
) from session_marks order by mark_id;
insert into new_links select session_id, 'extra_times', extra_id, row_digest(
    'extra_times', extra_id, session_id, seconds, reason, operator, utc
) from extra_times order by extra_id;

create trigger materials_no_update before update on materials
begin
    select raise(abort, 'facts are append-only');
end;

create trigger materials_no_delete before delete on materials
begin
    select raise(abort, 'facts are append-only');
end;

create trigger materials_no_replace before insert on materials
begin
    select raise(abort, 'facts are append-only')
    where exists (select 1 from materials where material_id = new.material_id);
end;

create trigger chain_no_update before update on chain
begin
    select raise(abort, 'facts are append-only');
end;

create trigger chain_no_delete before delete on chain
begin
    select raise(abort, 'facts are append-only');
end;

create trigger chain_no_replace before insert on chain
begin
    select raise(abort, 'facts are append-only')
    where exists (select 1 from chain where link_id = new.link_id);
end;
