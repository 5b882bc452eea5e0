-- How large a database is, and what of it is due to go. The same names as on PostgreSQL.

-- name: sizes
-- A file tells its own size at once, and that of a table only to who reads all of it.
select 'the file', null, page_count * page_size, 0 from pragma_page_count(), pragma_page_size()
union all
select 'free pages in it', null, freelist_count * page_size, 0 from pragma_freelist_count(), pragma_page_size()
limit :limit;

-- name: due_jobs
-- Finished jobs of one state past their time, among the oldest :look of those that are as old.
select count(*) filter (where state = :state), min(finished_at) filter (where state = :state), count(*) = :look
from (select state, finished_at from haulwright_history
      where finished_at < :now - :age_us order by finished_at limit :look) aged;

-- name: due_events
select count(*), min(at), count(*) = :look
from (select at from haulwright_events where at < :now - :age_us order by at limit :look) aged;
