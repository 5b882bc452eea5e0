-- A resume moves nothing. A pause that is over leaves its interval, and whoever reads the deadline of a job adds what the
-- pauses of its queue and of its source took from it.
create table haulwright_pauses (
    kind       text    not null check (kind in ('queue', 'source')),
    name       text    not null,
    resumed_at integer not null,
    paused_at  integer not null,
    primary key (kind, name, resumed_at),
    check (paused_at < resumed_at)
) without rowid;
create index haulwright_pauses_end on haulwright_pauses (resumed_at);

-- Up to when pauses are part of its deadline already; null where none is.
alter table haulwright_jobs add column pauses_until integer;
