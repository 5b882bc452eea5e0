-- Figures of the last while, on SQLite. Each entry reads a range of an index or stops at a limit, never all of history.

-- name: runs
-- What ended in the window, with the run that ended it: how many of its time were over each bound of the histogram.
select queue, task, state,
       (took > 10000) + (took > 50000) + (took > 100000) + (took > 500000) + (took > 1000000) + (took > 5000000)
       + (took > 10000000) + (took > 30000000) + (took > 60000000) + (took > 300000000) + (took > 900000000)
       + (took > 3600000000),
       count(*), coalesce(sum(took), 0)
from (select queue, task, state, finished_at - leased_at as took from haulwright_history where finished_at > :since)
group by 1, 2, 3, 4;

-- name: waits
-- How long what ended in the window had been due when it was claimed for the last time.
select queue,
       (took > 10000) + (took > 50000) + (took > 100000) + (took > 500000) + (took > 1000000) + (took > 5000000)
       + (took > 10000000) + (took > 30000000) + (took > 60000000) + (took > 300000000) + (took > 900000000)
       + (took > 3600000000),
       count(*), sum(took)
from (select queue, max(leased_at - run_at, 0) as took from haulwright_history
      where finished_at > :since and leased_at is not null)
group by 1, 2;

-- name: connectors
-- What ended in the window by connector, or by source where its events name no connector, and the rows that it processed.
with ended as (
    select state, source, case when json_valid(event_fields) then event_fields end as facts
    from haulwright_history
    where finished_at > :since
      and (source is not null or event_fields like '%"connector_id"%' or event_fields like '%"records_synced"%'
           or event_fields like '%"rows"%')
)
select coalesce(facts ->> '$.connector_id', source, ''), state, count(*),
       coalesce(sum(cast(coalesce(facts ->> '$.records_synced', facts ->> '$.rows', 0) as integer)), 0)
from ended group by 1, 2;

-- name: queued
-- Jobs by queue whose id was made since a moment: ids begin with their time.
select queue, count(*) from (
    select queue from haulwright_jobs where id >= :first
    union all
    select queue from haulwright_history where id >= :first) made
group by queue;

-- name: dead
-- Dead letters that wait for somebody, by tenant; of very many the first.
select tenant, count(*) from (
    select tenant from haulwright_history where state = 'dead' and requeued_to is null limit :limit) dead
group by tenant;

-- name: retries
-- Runs that failed in the window and are tried again, by the class of their error. By the indexes of time and job: all that ever failed
-- are more.
select case when json_valid(failed.data) then failed.data ->> '$.error_class' end, count(*) from haulwright_events failed
where failed.at > :since and +failed.name = 'job.failed'
  and exists (select 1 from haulwright_events retry
              where retry.job_id = failed.job_id and +retry.name = 'job.retry' and retry.attempt = failed.attempt)
group by 1;

-- name: waiting
-- Jobs that wait for a gate, by its name; of very many the first.
select waiting_on, count(*) from (
    select waiting_on from haulwright_jobs where waiting_on is not null limit :limit) parked
group by waiting_on;

-- name: endings
-- The newest jobs that ended since a moment, at most so many, by stretches of so long and by outcome; and the first of them.
select (finished_at - :since) / :step, state, count(*), min(finished_at) from (
    select finished_at, state from haulwright_history
    where finished_at > :since order by finished_at desc limit :limit) ended
group by 1, 2;

-- name: endings_of_tenant
-- The same for one tenant, among its newest jobs: ids begin with their time, and an index has them by tenant.
select (finished_at - :since) / :step, state, count(*), min(finished_at) from (
    select finished_at, state from haulwright_history where tenant = :tenant order by id desc limit :limit) ended
where finished_at > :since
group by 1, 2;

-- name: spans
-- How long the newest jobs that ended ran the last time, and how long they had been due before.
select finished_at - leased_at, case when leased_at > run_at then leased_at - run_at else 0 end from (
    select finished_at, leased_at, run_at from haulwright_history
    where finished_at > :since order by finished_at desc limit :limit) ended
where leased_at is not null;

-- name: spans_of_tenant
-- The same for one tenant.
select finished_at - leased_at, case when leased_at > run_at then leased_at - run_at else 0 end from (
    select finished_at, leased_at, run_at from haulwright_history where tenant = :tenant order by id desc limit :limit) ended
where leased_at is not null and finished_at > :since;
