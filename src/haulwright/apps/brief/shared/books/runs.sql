-- Runs of schedules.

-- name: now
select haulwright_now(:now);

-- name: slot_of
-- The moment that a job stands for, if it is the job of a slot.
select scheduled_for from haulwright_slots where schedule = :schedule and job_id = :job_id
order by opened_at desc limit 1;

-- name: list
-- The newest runs, of one job or of all.
select id, job_name, scheduled_for, started_at, finished_at, status, worker_instance, error_message,
       rows_processed
from haulwright_v_job_runs
where cast(:job_name as text) is null or job_name = :job_name
order by scheduled_for desc, job_name limit :limit;
