-- name: declare
-- A schedule is declared by every process that has its code. A change of its words starts a new revision; the slots
-- that are already opened keep theirs.
insert into haulwright_schedules as schedule (name, tenant, task, cron, tz, coalesce_slots, misfire_grace_us, overlap,
    max_runtime_us, template, opened_until, next_at, created_at, updated_at)
values (:name, :tenant, :task, :cron, :tz, :coalesce, :misfire_grace_us, :overlap, :max_runtime_us, :template,
    :opened_until, :next_at, haulwright_now(:now::bigint), haulwright_now(:now::bigint))
on conflict (name) do update
set tenant = excluded.tenant, task = excluded.task, cron = excluded.cron, tz = excluded.tz,
    coalesce_slots = excluded.coalesce_slots, misfire_grace_us = excluded.misfire_grace_us,
    overlap = excluded.overlap, max_runtime_us = excluded.max_runtime_us, template = excluded.template,
    opened_until = excluded.opened_until, next_at = excluded.next_at, revision = schedule.revision + 1, updated_at = haulwright_now(:now::bigint)
where (schedule.tenant, schedule.task, schedule.cron, schedule.tz, schedule.coalesce_slots, schedule.overlap, schedule.template)
      is distinct from (excluded.tenant, excluded.task, excluded.cron, excluded.tz, excluded.coalesce_slots,
                        excluded.overlap, excluded.template)
   or schedule.misfire_grace_us is distinct from excluded.misfire_grace_us
   or schedule.max_runtime_us is distinct from excluded.max_runtime_us
returning revision;

-- name: get
select name, tenant, task, cron, tz, coalesce_slots, misfire_grace_us, overlap, max_runtime_us, template, revision,
       paused_at, paused_by, opened_until, next_at, pruned_from, pruned_until
from haulwright_schedules where name = :name and (:tenant::text is null or tenant = :tenant);

-- name: hold
-- The same, held for the rest of the transaction.
select name, tenant, task, cron, tz, coalesce_slots, misfire_grace_us, overlap, max_runtime_us, template, revision,
       paused_at, paused_by, opened_until, next_at, pruned_from, pruned_until
from haulwright_schedules where name = :name and (:tenant::text is null or tenant = :tenant) for update;

-- name: list
select name, tenant, task, cron, tz, coalesce_slots, misfire_grace_us, overlap, max_runtime_us, template, revision,
       paused_at, paused_by, opened_until, next_at, pruned_from, pruned_until
from haulwright_schedules
where (:tenant::text is null or tenant = :tenant) and (:after::text is null or name collate "C" > :after)
order by name collate "C" limit :limit;

-- name: due
select name from haulwright_schedules where next_at <= haulwright_now(:now::bigint) and name <> all(:aside::text[])
order by next_at limit :limit;

-- name: next_due
-- When the next slot of any schedule is due, and what time it is.
select min(next_at), haulwright_now(:now::bigint) from haulwright_schedules where name <> all(:aside::text[]);

-- name: advance
-- Only from where it stood: whoever comes second changes nothing.
update haulwright_schedules set opened_until = :until, next_at = :next_at
where name = :name and opened_until = :from
returning name;

-- name: open_slot
-- The slot is the identity: it is taken before its job is made, and a taken one makes no job.
insert into haulwright_slots (schedule, scheduled_for, disposition, job_id, merged_into, revision, actor, opened_at)
values (:schedule, :scheduled_for, :disposition, :job_id::uuid, :merged_into, :revision, :actor,
        haulwright_now(:now::bigint))
on conflict (schedule, scheduled_for) do nothing
returning scheduled_for;

-- name: mend_slot
-- A slot that made no job is opened after all: only as what it was when it was looked at, so it happens once.
update haulwright_slots set disposition = :disposition, job_id = :job_id::uuid, merged_into = null, revision = :revision,
    actor = :actor, opened_at = haulwright_now(:now::bigint)
where schedule = :schedule and scheduled_for = :scheduled_for and disposition = :was
returning scheduled_for;

-- name: turn_duplicate
-- The job of a slot would have been a duplicate: the slot says so and names the job that stands for it.
update haulwright_slots set disposition = 'skipped_duplicate', job_id = :job_id::uuid
where schedule = :schedule and scheduled_for = :scheduled_for;

-- name: slot
select disposition, job_id from haulwright_slots where schedule = :schedule and scheduled_for = :scheduled_for;

-- name: slots
select schedule, scheduled_for, disposition, job_id, merged_into, revision, actor, opened_at from haulwright_slots
where schedule = :schedule and scheduled_for < :before order by scheduled_for desc limit :limit;

-- name: taken
select scheduled_for from haulwright_slots
where schedule = :schedule and scheduled_for > :after and scheduled_for <= :until;

-- name: active
-- A job of this schedule that is still queued or running, among those of the slots that were opened last.
select j.id from haulwright_jobs j
join (select job_id from haulwright_slots
      where schedule = :schedule and job_id is not null order by opened_at desc limit :limit) s on s.job_id = j.id
limit 1;

-- name: pause
update haulwright_schedules set paused_at = haulwright_now(:now::bigint), paused_by = :actor
where name = :name and paused_at is null
returning name;

-- name: resume
update haulwright_schedules set paused_at = null, paused_by = null
where name = :name and paused_at is not null
returning name;

-- name: record_endings
-- How the jobs of slots ended, before they, their workers and their events are pruned.
update haulwright_slots as s
set ending = ended.ending, started_at = ended.started_at, finished_at = ended.finished_at, worker = ended.worker,
    error = ended.error, result = ended.result
from (
    select o.schedule, o.scheduled_for, h.started_at, h.finished_at, coalesce(w.name, h.worker_id::text) as worker,
           coalesce(h.error_message, h.reason) as error,
           case when length(h.result) <= :most_chars then h.result end as result,
           case when h.id is null then 'unknown'
                when h.state <> 'dead' then h.state
                when h.error_class = 'TimedOut' then 'timed_out'
                when h.error_class = 'LeaseLost' or h.reason = 'lease_exhausted' then
                    case when 'worker_startup_recovery' = (
                        select e.data::json ->> 'detected_by' from haulwright_events e
                        where e.job_id = h.id and e.name || '' = 'job.lease_expired' order by e.seq desc limit 1)
                    then 'recovered' else 'lost' end
                else 'dead' end as ending
    from haulwright_slots o
    left join haulwright_history h on h.id = o.job_id
    left join haulwright_workers w on w.id = h.worker_id
    where o.ending is null and o.job_id is not null and o.disposition in ('fired', 'backfilled', 'manual')
      and not exists (select 1 from haulwright_jobs j where j.id = o.job_id)
    order by o.schedule, o.scheduled_for limit :limit
) ended
where s.schedule = ended.schedule and s.scheduled_for = ended.scheduled_for and s.ending is null
returning s.schedule;

-- name: prune
-- Slots up to the schedule's mark are never opened again; a later one would be, and make a second job. The schedule is held
-- and remembers the range: whoever fills past slots holds it too.
with aged as materialized (
    select s.schedule, s.scheduled_for from haulwright_slots s join haulwright_schedules d on d.name = s.schedule
    where s.opened_at < haulwright_now(:now::bigint) - :age_us::bigint and s.scheduled_for <= d.opened_until
      and not exists (select 1 from haulwright_jobs j where j.id = s.job_id)
    order by s.opened_at limit :limit for update of d skip locked
), gone as (
    delete from haulwright_slots s using aged where s.schedule = aged.schedule and s.scheduled_for = aged.scheduled_for
    returning s.schedule, s.scheduled_for
), marked as (
    update haulwright_schedules d
    set pruned_from = least(d.pruned_from, range.first), pruned_until = greatest(d.pruned_until, range.last)
    from (select schedule, min(scheduled_for) as first, max(scheduled_for) as last from gone group by schedule) range
    where d.name = range.schedule
)
select schedule from gone;
