-- Figures of the last while, on PostgreSQL. Each entry reads a range of an index or stops at a limit, never all of history.

-- name: runs
-- What ended in the window, with the run that ended it: how many of its time were over each bound of the histogram.
select queue, task, state, width_bucket(finished_at - leased_at - 1, array[10000, 50000, 100000, 500000, 1000000, 5000000,
           10000000, 30000000, 60000000, 300000000, 900000000, 3600000000]::bigint[]),
       count(*), coalesce(sum(finished_at - leased_at), 0)
from haulwright_history where finished_at > :since::bigint
group by 1, 2, 3, 4;

-- name: waits
-- How long what ended in the window had been due when it was claimed for the last time.
select queue, width_bucket(greatest(leased_at - run_at, 0) - 1, array[10000, 50000, 100000, 500000, 1000000, 5000000,
           10000000, 30000000, 60000000, 300000000, 900000000, 3600000000]::bigint[]),
       count(*), sum(greatest(leased_at - run_at, 0))
from haulwright_history where finished_at > :since::bigint and leased_at is not null
group by 1, 2;

-- name: connectors
-- What ended in the window by connector, or by source where its events name no connector, and the rows that it processed.
with ended as (
    select state, source, case when event_fields like '{%' then haulwright_json(event_fields) end as facts
    from haulwright_history
    where finished_at > :since::bigint
      and (source is not null or event_fields like '%"connector_id"%' or event_fields like '%"records_synced"%'
           or event_fields like '%"rows"%')
)
select coalesce(facts ->> 'connector_id', source, ''), state, count(*),
       coalesce(sum(case when coalesce(facts ->> 'records_synced', facts ->> 'rows') ~ '^[0-9]{1,15}$'
                    then coalesce(facts ->> 'records_synced', facts ->> 'rows')::bigint end), 0)
from ended group by 1, 2;

-- name: queued
-- Jobs by queue whose id was made since a moment: ids begin with their time.
select queue, count(*) from (
    select queue from haulwright_jobs where id >= :first::uuid
    union all
    select queue from haulwright_history where id >= :first::uuid) made
group by queue;

-- name: dead
-- Dead letters that wait for somebody, by tenant; of very many the first.
select tenant, count(*) from (
    select tenant from haulwright_history where state = 'dead' and requeued_to is null limit :limit) dead
group by tenant;

-- name: retries
-- Runs that failed in the window and are tried again, by the class of their error. By the indexes of time and job: all that ever failed
-- are more.
select haulwright_json(failed.data) ->> 'error_class', count(*) from haulwright_events failed
where failed.at > :since::bigint and failed.name || '' = 'job.failed'
  and exists (select 1 from haulwright_events retry
              where retry.job_id = failed.job_id and retry.name || '' = 'job.retry' and retry.attempt = failed.attempt)
group by 1;

-- name: waiting
-- Jobs that wait for a gate, by its name; of very many the first.
select waiting_on, count(*) from (
    select waiting_on from haulwright_jobs where waiting_on is not null limit :limit) parked
group by waiting_on;

-- name: endings
-- The newest jobs that ended since a moment, at most so many, by stretches of so long and by outcome; and the first of them.
select (finished_at - :since::bigint) / :step::bigint, state, count(*), min(finished_at) from (
    select finished_at, state from haulwright_history
    where finished_at > :since::bigint order by finished_at desc limit :limit) ended
group by 1, 2;

-- name: endings_of_tenant
-- The same for one tenant, among its newest jobs: ids begin with their time, and an index has them by tenant.
select (finished_at - :since::bigint) / :step::bigint, state, count(*), min(finished_at) from (
    select finished_at, state from haulwright_history where tenant = :tenant order by id desc limit :limit) ended
where finished_at > :since::bigint
group by 1, 2;

-- name: spans
-- How long the newest jobs that ended ran the last time, and how long they had been due before.
select finished_at - leased_at, case when leased_at > run_at then leased_at - run_at else 0 end from (
    select finished_at, leased_at, run_at from haulwright_history
    where finished_at > :since::bigint order by finished_at desc limit :limit) ended
where leased_at is not null;

-- name: spans_of_tenant
-- The same for one tenant.
select finished_at - leased_at, case when leased_at > run_at then leased_at - run_at else 0 end from (
    select finished_at, leased_at, run_at from haulwright_history where tenant = :tenant order by id desc limit :limit) ended
where leased_at is not null and finished_at > :since::bigint;
