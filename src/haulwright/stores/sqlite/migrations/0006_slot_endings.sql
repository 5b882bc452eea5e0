-- How the job of a slot ended, kept with the slot: the job, its worker and its events are removed long before it. Null
-- while the job has not ended, or until somebody has written it down.
alter table haulwright_slots add column ending text;  -- succeeded, skipped, cancelled, dead, timed_out, lost, recovered; unknown: its job was gone
alter table haulwright_slots add column started_at integer;
alter table haulwright_slots add column finished_at integer;
alter table haulwright_slots add column worker text;  -- the name of who ran it last
alter table haulwright_slots add column error text;  -- its last error, or the reason of its end
alter table haulwright_slots add column result text;  -- where it is not too long
create index haulwright_slots_unended on haulwright_slots (schedule, scheduled_for)
    where ending is null and job_id is not null;
