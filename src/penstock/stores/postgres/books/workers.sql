-- name: register
insert into penstock_workers (id, name, host, boot_id, pid, pid_started, version, queues, tasks, started_at, seen_at)
values (:id::uuid, :name, :host, :boot_id, :pid, :pid_started, :version, :queues, :tasks,
        penstock_now(:now::bigint), penstock_now(:now::bigint));

-- name: seen
update penstock_workers set seen_at = penstock_now(:now::bigint), refused = :refused where id = :id::uuid returning id;

-- name: stopped
update penstock_workers set stopped_at = penstock_now(:now::bigint), seen_at = penstock_now(:now::bigint),
    refused = :refused
where id = :id::uuid and stopped_at is null returning id;

-- name: lost
-- Leases were taken back from these workers. Locked in the order of ids: two sweeps may meet at the same workers.
update penstock_workers set lost_at = penstock_now(:now::bigint)
where id = any(array(select id from penstock_workers where id = any(:workers::uuid[]) order by id for update))
returning id;

-- name: on_host
-- Workers of a host that did not say that they stopped.
select id, name, boot_id, pid, pid_started from penstock_workers
where host = :host and stopped_at is null and id <> :id::uuid limit :limit;

-- name: list
select id, name, host, boot_id, pid, pid_started, version, queues, tasks, refused, started_at, seen_at, stopped_at
from penstock_workers
where :all::bool or (stopped_at is null and seen_at > penstock_now(:now::bigint) - :within_us::bigint)
order by started_at desc limit :limit;

-- name: prune
delete from penstock_workers where seen_at < penstock_now(:now::bigint) - :age_us::bigint
  and not exists (select 1 from penstock_jobs j where j.state = 'running' and j.worker_id = penstock_workers.id)
returning id;
