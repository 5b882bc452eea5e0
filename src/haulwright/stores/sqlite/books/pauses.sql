-- Pauses that are over. The same names and parameters as on PostgreSQL.

-- name: record
-- One that a clock which went back makes shorter than nothing took nothing from anybody.
insert into haulwright_pauses (kind, name, resumed_at, paused_at)
select :kind, :name, coalesce(:until, :now), :since where coalesce(:until, :now) > :since
on conflict (kind, name, resumed_at) do update set paused_at = min(paused_at, excluded.paused_at);

-- name: prune
-- Those that were over when the oldest job that waits or runs was enqueued. Ids follow the clocks of many hosts, so the
-- one with the first id is the oldest within a margin.
delete from haulwright_pauses where (kind, name, resumed_at) in (
    select kind, name, resumed_at from haulwright_pauses
    where resumed_at < coalesce((select created_at from haulwright_jobs order by id limit 1), :now) - :margin_us
    order by resumed_at limit :limit);
