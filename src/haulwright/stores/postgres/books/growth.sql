-- How large a database is, and what of it is due to go. Nothing is read through: sizes are those of files, rows are as many
-- as the server last counted, and what is due is counted up to a limit.

-- name: sizes
-- Of the engine's tables and those of applications, a table with its partitions and indexes; the largest first.
select coalesce(p.relname, c.relname)::text, sum(greatest(c.reltuples, 0))::bigint,
       sum(pg_total_relation_size(c.oid))::bigint, count(p.oid)
from pg_class c
left join pg_inherits i on i.inhrelid = c.oid
left join pg_class p on p.oid = i.inhparent
where c.relkind = 'r'
  and c.relnamespace = (select relnamespace from pg_class where oid = 'haulwright_migrations'::regclass)
  and (starts_with(c.relname::text, 'haulwright_')
       or exists (select from haulwright_migrations m
                  where starts_with(c.relname::text, regexp_replace(m.chain, '^.*[.]', '') || '_')))
group by 1
order by 3 desc, 1 limit :limit;

-- name: due_jobs
-- Finished jobs of one state past their time, among the oldest :look of those that are as old.
select count(*) filter (where state = :state), min(finished_at) filter (where state = :state), count(*) = :look
from (select state, finished_at from haulwright_history
      where finished_at < haulwright_now(:now::bigint) - :age_us::bigint order by finished_at limit :look) aged;

-- name: due_events
select count(*), min(at), count(*) = :look
from (select at from haulwright_events
      where at < haulwright_now(:now::bigint) - :age_us::bigint order by at limit :look) aged;
