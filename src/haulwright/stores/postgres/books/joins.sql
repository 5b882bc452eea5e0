-- Joins on PostgreSQL: who waits for whom. A parent is the job that waits, its children are those that it waits for.
-- Locks: a parent that waits for children takes their rows in the order of their ids. Whoever ends a child takes, after
-- it, the rows of its join, then those of parents that are queued; never one of a parent that runs.

-- name: unfinished
-- Here and below, no tenant is every tenant.
select id, state from haulwright_jobs where id = any(:ids::uuid[]) and (:tenant::text is null or tenant = :tenant);

-- name: finished
select id, requeued_to from haulwright_history
where id = any(:ids::uuid[]) and (:tenant::text is null or tenant = :tenant);

-- name: outcomes
select id, state, reason, result, error_class, error_code, error_message
from haulwright_history where id = any(:ids::uuid[]) and (:tenant::text is null or tenant = :tenant);

-- name: waits_for_me
-- One of these jobs that waits for the parent itself, if only through others.
with recursive waiting (id) as (
    select parent_id from haulwright_joins where child_id = :parent::uuid
    union
    select j.parent_id from haulwright_joins j join waiting on j.child_id = waiting.id)
select id from waiting where id = any(:ids::uuid[]) limit 1;

-- name: forget_others
-- What the parent waited for before, and does not any more.
delete from haulwright_joins j
where j.parent_id = :parent::uuid
  and not exists (select 1 from unnest(:ids::uuid[]) as kept (id) where kept.id = j.child_id);

-- name: wait_for
-- The children that are not finished yet, and the mark that makes their end tell of it. One that is just being settled is
-- waited for, and then it is gone. Whose row is there already needs no lock: whoever ends it will find that row.
with child as materialized (
    select j.id from haulwright_jobs j
    where j.id = any(:ids::uuid[]) and (:tenant::text is null or j.tenant = :tenant)
      and not exists (select 1 from haulwright_joins k where k.child_id = j.id and k.parent_id = :parent::uuid)
    order by j.id for update of j
), marked as (
    update haulwright_jobs set joined = true
    where id = any(array(select id from child) || :parent::uuid) and not joined
)
insert into haulwright_joins (child_id, parent_id) select id, :parent::uuid from child;

-- name: family
-- A job and all that it waits for, if only through others, as far as they have not ended.
with recursive member (id) as (
    select :id::uuid
    union
    select j.child_id from member join haulwright_joins j on j.parent_id = member.id)
select j.id, j.state, j.run_at from member join haulwright_jobs j on j.id = member.id order by j.id limit :limit;

-- name: relatives
-- Who waits for a job and for whom it waits, at most so many of each: parent and child.
select * from (select parent_id, child_id from haulwright_joins where child_id = :id::uuid order by parent_id limit :limit) above
union all
select * from (select parent_id, child_id from haulwright_joins where parent_id = :id::uuid order by child_id limit :limit) below;

-- name: bell
-- Claims that came while the children were locked passed them by: they may look again.
select pg_notify('haulwright', '');

-- name: left
-- One that the parent still waits for. A row that somebody is deleting just now is waited for: that one saw the parent
-- running, and leaves it to us to see that nothing is left.
select j.child_id from haulwright_joins j
where j.parent_id = :parent::uuid and exists (select 1 from haulwright_jobs c where c.id = j.child_id)
order by j.child_id limit 1 for update of j;

-- name: ended
-- The rows of jobs that have ended: of those that waited, and of those that were waited for, whose parents come back.
-- The former are left to whoever holds them, who deletes them too.
with own as (
    delete from haulwright_joins where ctid = any(array(
        select ctid from haulwright_joins where parent_id = any(:ids::uuid[]) for update skip locked))
)
delete from haulwright_joins where child_id = any(:ids::uuid[]) returning parent_id;

-- name: lock_parents
-- Of two that end the last two children at the same time, the second waits here, and then sees that nothing is left.
select id from haulwright_jobs
where id = any(:parents::uuid[]) and state || '' = 'queued' and waiting_on = :gate
order by id for update;

-- name: wake_parents
-- Parents that wait for nobody any more are due, and an idle worker hears of it.
update haulwright_jobs p set run_at = haulwright_now(:now::bigint), updated_at = haulwright_now(:now::bigint)
where p.id = any(:parents::uuid[]) and p.state || '' = 'queued' and p.waiting_on = :gate
  and p.run_at > haulwright_now(:now::bigint)
  and not exists (select 1 from haulwright_joins j join haulwright_jobs c on c.id = j.child_id where j.parent_id = p.id)
returning p.id, pg_notify('haulwright', '');

-- name: waited_for
-- How many a parent waits for, and the first of them.
select j.child_id, count(*) over () from haulwright_joins j join haulwright_jobs c on c.id = j.child_id
where j.parent_id = :parent::uuid
order by j.child_id limit :limit;
