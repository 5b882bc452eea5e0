-- Joins on SQLite: who waits for whom. A parent is the job that waits, its children are those that it waits for.
-- There is one writer at a time, so nobody needs a lock.

-- name: unfinished
-- Here and below, no tenant is every tenant.
select id, state from haulwright_jobs
where id in (select value from json_each(:ids)) and (:tenant is null or tenant = :tenant);

-- name: finished
select id, requeued_to from haulwright_history
where id in (select value from json_each(:ids)) and (:tenant is null or tenant = :tenant);

-- name: outcomes
select id, state, reason, result, error_class, error_code, error_message
from haulwright_history where id in (select value from json_each(:ids)) and (:tenant is null or tenant = :tenant);

-- name: waits_for_me
-- One of these jobs that waits for the parent itself, if only through others.
with recursive waiting (id) as (
    select parent_id from haulwright_joins where child_id = :parent
    union
    select j.parent_id from waiting cross join haulwright_joins j on j.child_id = waiting.id)
select id from waiting where id in (select value from json_each(:ids)) limit 1;

-- name: forget_others
-- What the parent waited for before, and does not any more.
delete from haulwright_joins
where parent_id = :parent and child_id not in (select value from json_each(:ids));

-- name: wait_for
-- The children that are not finished yet, and the mark that makes their end tell of it.
insert into haulwright_joins (child_id, parent_id)
select j.id, :parent from haulwright_jobs j
where j.id in (select value from json_each(:ids)) and (:tenant is null or j.tenant = :tenant)
on conflict (child_id, parent_id) do nothing;
update haulwright_jobs set joined = 1
where (id in (select value from json_each(:ids)) and (:tenant is null or tenant = :tenant) or id = :parent) and not joined;

-- name: family
-- A job and all that it waits for, if only through others, as far as they have not ended.
with recursive member (id) as (
    select :id
    union
    select j.child_id from member cross join haulwright_joins j on j.parent_id = member.id)
select j.id, j.state, j.run_at from member cross join haulwright_jobs j on j.id = member.id order by j.id limit :limit;

-- name: relatives
-- Who waits for a job and for whom it waits, at most so many of each: parent and child.
select * from (select parent_id, child_id from haulwright_joins where child_id = :id order by parent_id limit :limit) above
union all
select * from (select parent_id, child_id from haulwright_joins where parent_id = :id order by child_id limit :limit) below;

-- name: bell
-- SQLite's bell is the file's own log.
select 1;

-- name: left
-- One that the parent still waits for.
select j.child_id from haulwright_joins j
where j.parent_id = :parent and exists (select 1 from haulwright_jobs c where c.id = j.child_id)
order by j.child_id limit 1;

-- name: ended
-- The rows of jobs that have ended: of those that waited, and of those that were waited for, whose parents come back.
delete from haulwright_joins where parent_id in (select value from json_each(:ids));
delete from haulwright_joins where child_id in (select value from json_each(:ids)) returning parent_id;

-- name: lock_parents
select id from haulwright_jobs
where id in (select value from json_each(:parents)) and state = 'queued' and waiting_on = :gate;

-- name: wake_parents
-- Parents that wait for nobody any more are due.
update haulwright_jobs as p set run_at = :now, updated_at = :now
where p.id in (select value from json_each(:parents)) and p.state = 'queued' and p.waiting_on = :gate and p.run_at > :now
  and not exists (select 1 from haulwright_joins j cross join haulwright_jobs c on c.id = j.child_id where j.parent_id = p.id)
returning id;

-- name: waited_for
-- How many a parent waits for, and the first of them.
select j.child_id, count(*) over () from haulwright_joins j cross join haulwright_jobs c on c.id = j.child_id
where j.parent_id = :parent
order by j.child_id limit :limit;
