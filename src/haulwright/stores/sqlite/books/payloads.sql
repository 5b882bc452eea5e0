-- Arguments that stand beside their job. The same names and parameters as on PostgreSQL.

-- name: load
-- In the transaction that writes their jobs, in the order of these columns.
insert into haulwright_payloads (job_id, args) values (?, ?);

-- name: mark
-- Their jobs say how large they are.
update haulwright_jobs as j set payload_bytes = input.payload_bytes from input where j.id = input.id;

-- name: copy
-- The successor of a requeued job has its own.
insert into haulwright_payloads (job_id, args) select :successor, args from haulwright_payloads where job_id = :id;
update haulwright_jobs set payload_bytes = :payload_bytes where id = :successor;

-- name: get
select job_id, args from haulwright_payloads where job_id in (select value from json_each(:ids));

-- name: prune
delete from haulwright_payloads where job_id in (select value from json_each(:ids));

-- name: are_waiting
-- Whether jobs of a queue wait whose arguments are large.
select 1 from haulwright_jobs where queue = :queue and payload_bytes is not null and state = 'queued' limit 1;
