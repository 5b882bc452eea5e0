-- Dead letters that wait for somebody, on PostgreSQL. The newest are found by their index alone, and only they are read.

-- name: groups
-- What failed alike, the most first, each with the newest of its jobs.
select error_class, error_code, task, count(*), min(finished_at), max(finished_at), max(id::text)
from haulwright_history
where requeued_to is null and id in (
    select id from haulwright_history
    where state = 'dead'
    order by id desc
    limit :newest
)
group by error_class, error_code, task
order by count(*) desc, max(id::text) desc
limit :limit;

-- name: groups_of_tenant
-- The same for one tenant: a seek in that index.
select error_class, error_code, task, count(*), min(finished_at), max(finished_at), max(id::text)
from haulwright_history
where requeued_to is null and id in (
    select id from haulwright_history
    where state = 'dead' and tenant = :tenant
    order by id desc
    limit :newest
)
group by error_class, error_code, task
order by count(*) desc, max(id::text) desc
limit :limit;
