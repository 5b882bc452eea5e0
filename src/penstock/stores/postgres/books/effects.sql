-- name: find
select name, kind, state, fence, result, stored, tries, job_id from penstock_effects
where tenant = :tenant and key = :key;

-- name: begin
-- The intent, before the effect. Nothing comes back where one is there already.
insert into penstock_effects (tenant, key, job_key, job_id, name, kind, state, fence, started_at)
values (:tenant, :key, :job_key, :job_id::uuid, :name, :kind, 'intent', :fence, penstock_now(:now::bigint))
on conflict (tenant, key) do nothing
returning key;

-- name: in_hand
-- The other job whose run is at this effect now, if there is one.
select j.id from penstock_effects e join penstock_jobs j on j.id = e.job_id and j.fence = e.fence
where e.tenant = :tenant and e.key = :key and j.state || '' = 'running' and j.id <> :job_id::uuid;

-- name: begin_again
-- An effect in doubt is taken over by a newer run.
update penstock_effects set fence = :fence, job_id = :job_id::uuid, tries = tries + 1
where tenant = :tenant and key = :key and state = 'intent' and (fence <= :fence or job_id <> :job_id::uuid)
returning key;

-- name: settle
update penstock_effects
set state = 'done', result = :result, stored = :stored, settled_at = penstock_now(:now::bigint)
where tenant = :tenant and key = :key and state = 'intent' and fence = :fence
returning key;

-- name: mark_unknown
update penstock_effects set state = 'unknown', settled_at = penstock_now(:now::bigint)
where tenant = :tenant and key = :key and state = 'intent'
returning key;

-- name: confirm_unknown
-- A person found out that it happened, and what came of it.
update penstock_effects set state = 'done', result = :result, stored = 'inline', settled_at = penstock_now(:now::bigint)
where tenant = :tenant and key = :key and state = 'unknown'
returning job_id, name;

-- name: deny_unknown
-- A person found out that it did not happen: as if it had never begun.
delete from penstock_effects where tenant = :tenant and key = :key and state = 'unknown'
returning job_id, name;

-- name: forget
-- A recorded result whose artefact is gone: the effect may happen again, under the same key.
update penstock_effects
set state = 'intent', fence = :fence, job_id = :job_id::uuid, result = null, stored = 'inline', settled_at = null
where tenant = :tenant and key = :key and state = 'done'
returning key;

-- name: of_job
select key, name, kind, state, fence, tries, started_at, settled_at, stored, result from penstock_effects
where tenant = :tenant and job_key = :job_key order by started_at, name limit :limit;

-- name: abandoned
-- Intents whose run is over and whose job is not active: an effect that nobody will finish.
select e.tenant, e.key, e.name, e.job_id, e.started_at from penstock_effects e
where e.state = 'intent' and e.started_at < penstock_now(:now::bigint) - :age_us::bigint
  and not exists (select 1 from penstock_jobs j where j.id = e.job_id)
order by e.started_at limit :limit;

-- name: put_blob
insert into penstock_blobs (tenant, key, body) values (:tenant, :key, :body)
on conflict (tenant, key) do update set body = excluded.body;

-- name: get_blob
select body from penstock_blobs where tenant = :tenant and key = :key;

-- name: prune_blobs
delete from penstock_blobs b using penstock_effects e,
    (select unnest(:tenant::text[]) as tenant, unnest(:job_key::text[]) as job_key) gone
where b.tenant = e.tenant and b.key = e.key and e.tenant = gone.tenant and e.job_key = gone.job_key;

-- name: prune
delete from penstock_effects e
using (select unnest(:tenant::text[]) as tenant, unnest(:job_key::text[]) as job_key) gone
where e.tenant = gone.tenant and e.job_key = gone.job_key;

-- name: prune_stages
delete from penstock_stages s
using (select unnest(:tenant::text[]) as tenant, unnest(:job_key::text[]) as job_key) gone
where s.tenant = gone.tenant and s.job_key = gone.job_key;

-- name: stage
select generation, machine, stage, job_id, fence from penstock_stages
where tenant = :tenant and job_key = :job_key order by generation desc limit 1;

-- name: put_stage
insert into penstock_stages (tenant, job_key, generation, machine, stage, job_id, fence, updated_at)
values (:tenant, :job_key, :generation, :machine, :stage, :job_id::uuid, :fence, penstock_now(:now::bigint))
on conflict (tenant, job_key, generation) do update
    set stage = excluded.stage, job_id = excluded.job_id, fence = excluded.fence, updated_at = excluded.updated_at;
