-- What the reconciler and the watch ask on SQLite.

-- name: in_hand
-- The contents that jobs under way have on disk and have not filed yet.
select distinct e.result ->> '$.sha256'
from haulwright_jobs j
join haulwright_effects e indexed by haulwright_effects_job on e.tenant = j.tenant and e.job_key = j.job_key
where j.task = 'documents.fetch' and j.fence > 0 and e.name = 'STREAM' and e.state = 'done';

-- name: pulse
-- When documents were last reconciled, and how many leases were lost of late.
select max(case when name = 'documents.reconciled' then at end),
       count(case when name = 'job.lease_expired' and at > max(r.last, :now - :burst_us) then 1 end)
from haulwright_events, (
    select coalesce(max(at), 0) as last from haulwright_events
    where at > :now - :window_us and name = 'documents.reconciled') r
where at > :now - :window_us and name in ('documents.reconciled', 'job.lease_expired');
