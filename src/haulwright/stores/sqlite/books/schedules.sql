-- name: declare
-- A schedule is declared by every process that has its code. A change of its words starts a new revision; the slots
-- that are already opened keep theirs.
insert into haulwright_schedules as schedule (name, tenant, task, cron, tz, coalesce_slots, misfire_grace_us, overlap,
    max_runtime_us, template, opened_until, next_at, created_at, updated_at)
values (:name, :tenant, :task, :cron, :tz, :coalesce, :misfire_grace_us, :overlap, :max_runtime_us, :template,
    :opened_until, :next_at, :now, :now)
on conflict (name) do update
set tenant = excluded.tenant, task = excluded.task, cron = excluded.cron, tz = excluded.tz,
    coalesce_slots = excluded.coalesce_slots, misfire_grace_us = excluded.misfire_grace_us,
    overlap = excluded.overlap, max_runtime_us = excluded.max_runtime_us, template = excluded.template,
    opened_until = excluded.opened_until, next_at = excluded.next_at, revision = schedule.revision + 1, updated_at = :now
where (schedule.tenant, schedule.task, schedule.cron, schedule.tz, schedule.coalesce_slots, schedule.overlap, schedule.template)
      <> (excluded.tenant, excluded.task, excluded.cron, excluded.tz, excluded.coalesce_slots, excluded.overlap,
          excluded.template)
   or schedule.misfire_grace_us is not excluded.misfire_grace_us
   or schedule.max_runtime_us is not excluded.max_runtime_us
returning revision;

-- name: get
select name, tenant, task, cron, tz, coalesce_slots, misfire_grace_us, overlap, max_runtime_us, template, revision,
       paused_at, paused_by, opened_until, next_at, pruned_from, pruned_until
from haulwright_schedules where name = :name and (:tenant is null or tenant = :tenant);

-- name: hold
-- The same; an immediate transaction holds everything.
select name, tenant, task, cron, tz, coalesce_slots, misfire_grace_us, overlap, max_runtime_us, template, revision,
       paused_at, paused_by, opened_until, next_at, pruned_from, pruned_until
from haulwright_schedules where name = :name and (:tenant is null or tenant = :tenant);

-- name: list
select name, tenant, task, cron, tz, coalesce_slots, misfire_grace_us, overlap, max_runtime_us, template, revision,
       paused_at, paused_by, opened_until, next_at, pruned_from, pruned_until
from haulwright_schedules
where (:tenant is null or tenant = :tenant) and (:after is null or name > :after)
order by name limit :limit;

-- name: due
select name from haulwright_schedules where next_at <= :now and name not in (select value from json_each(:aside))
order by next_at limit :limit;

-- name: next_due
-- When the next slot of any schedule is due, and what time it is.
select min(next_at), :now from haulwright_schedules where name not in (select value from json_each(:aside));

-- name: advance
-- Only from where it stood: whoever comes second changes nothing.
update haulwright_schedules set opened_until = :until, next_at = :next_at
where name = :name and opened_until = :from
returning name;

-- name: open_slot
-- The slot is the identity: it is taken before its job is made, and a taken one makes no job.
insert into haulwright_slots (schedule, scheduled_for, disposition, job_id, merged_into, revision, actor, opened_at)
values (:schedule, :scheduled_for, :disposition, :job_id, :merged_into, :revision, :actor, :now)
on conflict (schedule, scheduled_for) do nothing
returning scheduled_for;

-- name: mend_slot
-- A slot that made no job is opened after all: only as what it was when it was looked at, so it happens once.
update haulwright_slots set disposition = :disposition, job_id = :job_id, merged_into = null, revision = :revision,
    actor = :actor, opened_at = :now
where schedule = :schedule and scheduled_for = :scheduled_for and disposition = :was
returning scheduled_for;

-- name: turn_duplicate
-- The job of a slot would have been a duplicate: the slot says so and names the job that stands for it.
update haulwright_slots set disposition = 'skipped_duplicate', job_id = :job_id
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
update haulwright_schedules set paused_at = :now, paused_by = :actor
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
    select o.schedule, o.scheduled_for, h.started_at, h.finished_at, coalesce(w.name, h.worker_id) as worker,
           coalesce(h.error_message, h.reason) as error,
           case when length(h.result) <= :most_chars then h.result end as result,
           case when h.id is null then 'unknown'
                when h.state <> 'dead' then h.state
                when h.error_class = 'TimedOut' then 'timed_out'
                when h.error_class = 'LeaseLost' or h.reason = 'lease_exhausted' then
                    case when 'worker_startup_recovery' = (
                        select e.data ->> '$.detected_by' from haulwright_events e
                        where e.job_id = h.id and +e.name = 'job.lease_expired' order by e.seq desc limit 1)
                    then 'recovered' else 'lost' end
                else 'dead' end as ending
    from haulwright_slots o indexed by haulwright_slots_unended
    left join haulwright_history h on h.id = o.job_id
    left join haulwright_workers w on w.id = h.worker_id
    where o.ending is null and o.job_id is not null and o.disposition in ('fired', 'backfilled', 'manual')
      and not exists (select 1 from haulwright_jobs j where j.id = o.job_id)
    order by o.schedule, o.scheduled_for limit :limit
) ended
where s.schedule = ended.schedule and s.scheduled_for = ended.scheduled_for and s.ending is null
returning schedule;

-- name: prune
-- Slots up to the schedule's mark are never opened again; a later one would be, and make a second job. The schedule
-- remembers the range.
update haulwright_schedules
set pruned_from = min(coalesce(pruned_from, range.first), range.first),
    pruned_until = max(coalesce(pruned_until, range.last), range.last)
from (select schedule, min(scheduled_for) as first, max(scheduled_for) as last from (
    select s.schedule, s.scheduled_for from haulwright_slots s join haulwright_schedules d on d.name = s.schedule
    where s.opened_at < :now - :age_us and s.scheduled_for <= d.opened_until
      and not exists (select 1 from haulwright_jobs j where j.id = s.job_id)
    order by s.opened_at, s.schedule, s.scheduled_for limit :limit) group by schedule) range
where name = range.schedule;
delete from haulwright_slots where (schedule, scheduled_for) in (
    select s.schedule, s.scheduled_for from haulwright_slots s join haulwright_schedules d on d.name = s.schedule
    where s.opened_at < :now - :age_us and s.scheduled_for <= d.opened_until
      and not exists (select 1 from haulwright_jobs j where j.id = s.job_id)
    order by s.opened_at, s.schedule, s.scheduled_for limit :limit)
returning schedule;
