-- name: register
insert into haulwright_workers (id, name, host, boot_id, pid, pid_started, version, queues, tasks, started_at, seen_at)
values (:id, :name, :host, :boot_id, :pid, :pid_started, :version, :queues, :tasks, :now, :now);

-- name: seen
-- A number that only grows: one that has become smaller tells that the database was put back.
update haulwright_workers set seen_at = :now, beats = beats + 1, refused = :refused
where id = :id returning beats;

-- name: touch
-- A write that changes nothing but the time: it tells that others, too, could write.
update haulwright_workers set seen_at = :now where id = :id returning id;

-- name: stopped
update haulwright_workers set stopped_at = :now, seen_at = :now, refused = :refused
where id = :id and stopped_at is null returning id;

-- name: lost
-- Leases were taken back from these workers.
update haulwright_workers set lost_at = :now where id in (select value from json_each(:workers)) returning id;

-- name: name_of
select name from haulwright_workers where id = :id;

-- name: on_host
-- Workers of a host that did not say that they stopped.
select id, name, boot_id, pid, pid_started from haulwright_workers
where host = :host and stopped_at is null and id <> :id limit :limit;

-- name: list
-- By id, which begins with the time of the start: the last started first, from where a page before ended.
select id, name, host, boot_id, pid, pid_started, version, queues, tasks, refused, started_at, seen_at, stopped_at
from haulwright_workers
where (:all or (stopped_at is null and seen_at > :now - :within_us)) and (:after is null or id < :after)
order by id desc limit :limit;

-- name: prune
delete from haulwright_workers where id in (
    select w.id from haulwright_workers w where w.seen_at < :now - :age_us
      and not exists (select 1 from haulwright_jobs j where j.state = 'running' and j.worker_id = w.id)
    order by w.id limit :limit)
returning id;
