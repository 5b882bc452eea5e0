-- Dead letters that wait for somebody, on PostgreSQL.

-- name: groups
-- Of the newest so many: what failed alike, the most first, each with the newest of its jobs.
select error_class, error_code, task, count(*), min(finished_at), max(finished_at), max(id::text)
from (
    select id, error_class, error_code, task, finished_at
    from haulwright_history
    where state = 'dead' and requeued_to is null and (:tenant::text is null or tenant = :tenant::text)
    order by id desc
    limit :newest
) letters
group by error_class, error_code, task
order by count(*) desc, max(id::text) desc
limit :limit;
