-- Dead letters that wait for somebody, on SQLite. The newest are found by their index, which is named: the order by id would
-- else be taken from the key of the whole history.

-- name: groups
-- What failed alike, the most first, each with the newest of its jobs.
select error_class, error_code, task, count(*), min(finished_at), max(finished_at), max(id)
from haulwright_history
where requeued_to is null and id in (
    select id from haulwright_history indexed by haulwright_history_dead_newest
    where state = 'dead'
    order by id desc
    limit :newest
)
group by error_class, error_code, task
order by count(*) desc, max(id) desc
limit :limit;

-- name: groups_of_tenant
-- The same for one tenant: a seek in that index.
select error_class, error_code, task, count(*), min(finished_at), max(finished_at), max(id)
from haulwright_history
where requeued_to is null and id in (
    select id from haulwright_history indexed by haulwright_history_dead
    where state = 'dead' and tenant = :tenant
    order by id desc
    limit :newest
)
group by error_class, error_code, task
order by count(*) desc, max(id) desc
limit :limit;
