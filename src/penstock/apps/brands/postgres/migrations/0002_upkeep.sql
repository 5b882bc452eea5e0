-- What nobody needs any more goes after a while: the raw items of runs that are over.

alter table brands_runs add column pruned_at bigint;  -- since when its raw items are gone
create index brands_runs_prunable on brands_runs (finished_at) where finished_at is not null and pruned_at is null;
