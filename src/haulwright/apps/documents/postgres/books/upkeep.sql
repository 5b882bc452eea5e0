-- What the reconciler and the watch ask on PostgreSQL.

-- name: in_hand
-- The contents that jobs under way have on disk and have not filed yet, and those that waiting ones were brought for.
select distinct e.result::json ->> 'sha256'
from haulwright_jobs j join haulwright_effects e on e.tenant = j.tenant and e.job_key = j.job_key
where j.task = 'documents.fetch' and j.fence > 0 and e.name = 'STREAM' and e.state = 'done'
union
select a.expected_sha256
from documents_artifacts a
join haulwright_keys k
    on k.tenant = a.tenant and k.kind = 'job_key' and k.task = '' and k.key = coalesce(a.repair_key, a.key)
join haulwright_jobs j on j.id = k.job_id
where a.expected_sha256 is not null and a.outcome is null;

-- name: pulse
-- When documents were last reconciled, and how many leases were lost of late.
select max(at) filter (where name = 'documents.reconciled'),
       count(*) filter (where name = 'job.lease_expired'
                        and at > greatest(r.last, haulwright_now(:now::bigint) - :burst_us::bigint))
from haulwright_events, (
    select coalesce(max(at), 0) as last from haulwright_events
    where at > haulwright_now(:now::bigint) - :window_us::bigint and name = 'documents.reconciled') r
where at > haulwright_now(:now::bigint) - :window_us::bigint
  and name in ('documents.reconciled', 'job.lease_expired');
