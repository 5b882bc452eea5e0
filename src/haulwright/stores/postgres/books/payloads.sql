-- Arguments that stand beside their job. The same names and parameters as on SQLite.

-- name: load
-- In the transaction that writes their jobs, in the order of these columns.
copy haulwright_payloads (job_id, args) from stdin;

-- name: mark
-- Their jobs say how large they are.
update haulwright_jobs j set payload_bytes = input.payload_bytes
from (select unnest(:id::uuid[]) as id, unnest(:payload_bytes::int[]) as payload_bytes order by 1) input
where j.id = input.id;

-- name: copy
-- The successor of a requeued job has its own.
with copied as (
    insert into haulwright_payloads (job_id, args)
    select :successor::uuid, args from haulwright_payloads where job_id = :id::uuid
)
update haulwright_jobs set payload_bytes = :payload_bytes::int where id = :successor::uuid;

-- name: get
select job_id, args from haulwright_payloads where job_id = any(:ids::uuid[]);

-- name: prune
delete from haulwright_payloads where job_id = any(:ids::uuid[]);

-- name: are_waiting
-- Whether jobs of a queue wait whose arguments are large. Not asked here: a claim sees it in the rows that it locks.
select 1 from haulwright_jobs where queue = :queue and payload_bytes is not null and state = 'queued' limit 1;
