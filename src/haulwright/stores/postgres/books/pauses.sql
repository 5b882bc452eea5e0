-- Pauses that are over. The same names and parameters as on SQLite.

-- name: record
-- One that a clock which went back makes shorter than nothing took nothing from anybody.
insert into haulwright_pauses as pause (kind, name, resumed_at, paused_at)
select :kind, :name, coalesce(:until::bigint, haulwright_now(:now::bigint)), :since::bigint
where coalesce(:until::bigint, haulwright_now(:now::bigint)) > :since::bigint
on conflict (kind, name, resumed_at) do update set paused_at = least(pause.paused_at, excluded.paused_at);

-- name: prune
-- Those that were over when the oldest job that waits or runs was enqueued. Ids follow the clocks of many hosts, so the
-- one with the first id is the oldest within a margin.
delete from haulwright_pauses where ctid = any(array(
    select ctid from haulwright_pauses
    where resumed_at < coalesce((select created_at from haulwright_jobs order by id limit 1), haulwright_now(:now::bigint))
        - :margin_us::bigint
    order by resumed_at limit :limit for update skip locked));
