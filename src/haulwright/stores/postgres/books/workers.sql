-- name: register
insert into haulwright_workers (id, name, host, boot_id, pid, pid_started, version, queues, tasks, started_at, seen_at)
values (:id::uuid, :name, :host, :boot_id, :pid, :pid_started, :version, :queues, :tasks,
        haulwright_now(:now::bigint), haulwright_now(:now::bigint));

-- name: seen
-- A number that only grows: one that has become smaller tells that the database was put back.
update haulwright_workers set seen_at = haulwright_now(:now::bigint), beats = beats + 1, refused = :refused
where id = :id::uuid returning beats;

-- name: touch
-- A write that changes nothing but the time: it tells that others, too, could write.
update haulwright_workers set seen_at = haulwright_now(:now::bigint) where id = :id::uuid returning id;

-- name: stopped
update haulwright_workers set stopped_at = haulwright_now(:now::bigint), seen_at = haulwright_now(:now::bigint),
    refused = :refused
where id = :id::uuid and stopped_at is null returning id;

-- name: lost
-- Leases were taken back from these workers. Locked in the order of ids: two sweeps may meet at the same workers.
update haulwright_workers set lost_at = haulwright_now(:now::bigint)
where id = any(array(select id from haulwright_workers where id = any(:workers::uuid[]) order by id for update))
returning id;

-- name: name_of
select name from haulwright_workers where id = :id::uuid;

-- name: on_host
-- Workers of a host that did not say that they stopped.
select id, name, boot_id, pid, pid_started from haulwright_workers
where host = :host and stopped_at is null and id <> :id::uuid limit :limit;

-- name: list
-- By id, which begins with the time of the start: the last started first, from where a page before ended.
select id, name, host, boot_id, pid, pid_started, version, queues, tasks, refused, started_at, seen_at, stopped_at
from haulwright_workers
where (:all::bool or (stopped_at is null and seen_at > haulwright_now(:now::bigint) - :within_us::bigint))
  and (:after::uuid is null or id < :after::uuid)
order by id desc limit :limit;

-- name: prune
delete from haulwright_workers where id = any(array(
    select w.id from haulwright_workers w where w.seen_at < haulwright_now(:now::bigint) - :age_us::bigint
      and not exists (select 1 from haulwright_jobs j where j.state = 'running' and j.worker_id = w.id)
    order by w.id limit :limit for update skip locked))
returning id;
