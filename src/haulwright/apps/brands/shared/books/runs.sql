-- Runs that are paid for.

-- name: order
-- Written before anything is sent. One unfinished run a connection: the index refuses a second.
insert into brands_runs (
    tenant, id, brand_id, connection_id, job_id, actor, input, input_hash, marked, cap, status, requested_at)
values (:tenant, :id, :brand_id, :connection_id, :job_id, :actor, :input, :input_hash, :marked, :cap, 'ORDERED',
        haulwright_now(:now))
returning id;

-- name: get
select tenant, id, brand_id, connection_id, job_id, actor, input, input_hash, marked, taken_over, cap, status,
       actor_run_id, dataset_id, dataset_items, truncated, raw_item_count, normalized_created, normalized_updated,
       quarantined, usage_usd, error, error_class, requested_at, started_at, fetched_at, normalized_at, finished_at,
       polled_at, elapsed_us, wait_us
from brands_runs where tenant = :tenant and id = :id;

-- name: of_connection
select tenant, id, brand_id, connection_id, job_id, actor, input, input_hash, marked, taken_over, cap, status,
       actor_run_id, dataset_id, dataset_items, truncated, raw_item_count, normalized_created, normalized_updated,
       quarantined, usage_usd, error, error_class, requested_at, started_at, fetched_at, normalized_at, finished_at,
       polled_at, elapsed_us, wait_us
from brands_runs
where tenant = :tenant and connection_id = :connection_id
order by id desc limit :limit;

-- name: hand_over
-- The job that it belongs to leaves it to another one.
update brands_runs set job_id = :job_id
where tenant = :tenant and id = :id and job_id = :owner and finished_at is null
returning id;

-- name: started
update brands_runs
set actor_run_id = :actor_run_id, dataset_id = :dataset_id, status = :status,
    started_at = coalesce(started_at, haulwright_now(:now))
where tenant = :tenant and id = :id and finished_at is null
returning id;

-- name: polled
-- It goes on: when that was seen, how long it had taken by then, and how long the next wait is meant to be.
update brands_runs set polled_at = haulwright_now(:now), elapsed_us = :elapsed_us, wait_us = :wait_us
where tenant = :tenant and id = :id and job_id = :job_id and finished_at is null
returning id;

-- name: ended
-- It is over at Apify, and its items can be fetched.
update brands_runs set status = :status, usage_usd = :usage_usd
where tenant = :tenant and id = :id and finished_at is null
returning id;

-- name: fetched
update brands_runs
set fetched_at = haulwright_now(:now), raw_item_count = :raw_item_count, dataset_items = :dataset_items,
    truncated = :truncated
where tenant = :tenant and id = :id
returning id;

-- name: normalized
update brands_runs
set normalized_at = haulwright_now(:now), finished_at = coalesce(finished_at, haulwright_now(:now)),
    normalized_created = :created, normalized_updated = :updated, quarantined = :quarantined, error = null,
    error_class = null
where tenant = :tenant and id = :id
returning id;

-- name: failed
-- It came to nothing that can be used; what it left stays for whoever wants to know why.
update brands_runs
set finished_at = haulwright_now(:now), status = coalesce(:status, status),
    quarantined = :quarantined, error = :error, error_class = :error_class
where tenant = :tenant and id = :id and finished_at is null
returning id;
