-- Runs that are paid for, on SQLite.

-- name: standing
-- How a connection stands at this moment: the run that is under way or was left behind, and whether the job that it belongs
-- to is active; the newest whose items are here and usable, other than what this job brought in itself; and what this job has
-- brought in to the end, where it is repeated after that. The moment comes back where there is none of them as well.
select moment.at, which.part, exists (select 1 from haulwright_jobs j where j.id = r.job_id),
       r.tenant, r.id, r.brand_id, r.connection_id, r.job_id, r.actor, r.input, r.input_hash, r.marked,
       r.taken_over, r.cap, r.status, r.actor_run_id, r.dataset_id, r.dataset_items, r.truncated, r.raw_item_count,
       r.normalized_created, r.normalized_updated, r.quarantined, r.usage_usd, r.error, r.error_class, r.requested_at,
       r.started_at, r.fetched_at, r.normalized_at, r.finished_at, r.polled_at, r.elapsed_us, r.wait_us
from (select :now as at) moment
left join (
    select 'unfinished' as part, id from brands_runs
    where tenant = :tenant and connection_id = :connection_id and finished_at is null
    union all
    select 'newest', id from (
        select id from brands_runs
        where tenant = :tenant and connection_id = :connection_id and fetched_at is not null and error is null
          and job_id is not :job_id
        order by started_at desc limit 1) newest
    union all
    select 'finished', id from (
        select id from brands_runs
        where tenant = :tenant and connection_id = :connection_id and job_id = :job_id
          and normalized_at is not null and error is null
        order by id desc limit 1) finished
) which on true
left join brands_runs r on r.tenant = :tenant and r.id = which.id;

-- name: take_over
-- A run whose job is over goes on under another one.
update brands_runs set job_id = :job_id, taken_over = 1
where tenant = :tenant and id = :id and finished_at is null
  and not exists (select 1 from haulwright_jobs j where j.id = brands_runs.job_id)
returning id;
