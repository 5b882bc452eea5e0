-- Dead letters that wait for somebody, on SQLite.

-- name: groups
-- Of the newest so many: what failed alike, the most first, each with the newest of its jobs. Its index is named because
-- the order by id would else be taken from the key of the whole history.
select error_class, error_code, task, count(*), min(finished_at), max(finished_at), max(id)
from (
    select id, error_class, error_code, task, finished_at
    from haulwright_history indexed by haulwright_history_dead
    where state = 'dead' and requeued_to is null and (:tenant is null or tenant = :tenant)
    order by id desc
    limit :newest
) letters
group by error_class, error_code, task
order by count(*) desc, max(id) desc
limit :limit;
