-- Arguments of some size stand in a row of their own, which is written with the job and removed with its history. In the
-- row of the job they would be written again with every step that it takes into another table.
create table haulwright_payloads (
    job_id uuid not null primary key,
    args   text not null
);

-- How large the arguments are that stand there; null where they are in `args`, as those of most jobs.
alter table haulwright_jobs add column payload_bytes integer;
alter table haulwright_history add column payload_bytes integer;
