-- The time by which everything on this server is decided: its own, unless a test set one.

-- name: now
select haulwright_now(:now::bigint);
