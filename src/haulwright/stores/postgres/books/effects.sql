-- name: find
select name, kind, state, fence, result, stored, tries, job_id from haulwright_effects
where tenant = :tenant and key = :key;

-- name: hold
-- The same, held for the rest of the transaction.
select name, kind, state, fence, result, stored, tries, job_id from haulwright_effects
where tenant = :tenant and key = :key for update;

-- name: begin
-- The intent, before the effect. Nothing comes back where one is there already.
insert into haulwright_effects (tenant, key, job_key, job_id, name, kind, state, fence, worker_id, started_at)
values (:tenant, :key, :job_key, :job_id::uuid, :name, :kind, 'intent', :fence, :worker_id::uuid, haulwright_now(:now::bigint))
on conflict (tenant, key) do nothing
returning key;

-- name: in_hand
-- The other job whose run is at this effect now, if there is one.
select j.id, e.name from haulwright_effects e join haulwright_jobs j
    on j.id = e.job_id and j.fence = e.fence and j.worker_id = e.worker_id
where e.tenant = :tenant and e.key = :key and j.state || '' = 'running' and j.id <> :job_id::uuid;

-- name: begin_again
-- An effect in doubt is taken over by a newer run.
update haulwright_effects set fence = :fence, worker_id = :worker_id::uuid, job_id = :job_id::uuid, tries = tries + 1
where tenant = :tenant and key = :key and state = 'intent' and (fence <= :fence or job_id <> :job_id::uuid)
returning key;

-- name: settle
update haulwright_effects
set state = 'done', result = :result, stored = :stored, settled_at = haulwright_now(:now::bigint)
where tenant = :tenant and key = :key and state = 'intent' and fence = :fence and worker_id = :worker_id::uuid
returning key;

-- name: begin_group
-- The first statement of a transaction of several commits: none of them waits for somebody's lock for long, for all of
-- them would. Where that is not enough each goes alone, and waits as long as any transaction.
select set_config('lock_timeout', '200ms', true);

-- name: hold_commits
-- Locks the jobs of several commits under their fences, in one order, and says whose commit is not in the ledger yet.
select input.id, input.fence, input.worker_id, e.key is null
from (select unnest(:id::uuid[]) as id, unnest(:fence::bigint[]) as fence, unnest(:worker_id::uuid[]) as worker_id,
             unnest(:tenant::text[]) as tenant, unnest(:key::text[]) as key
      order by 1) input
join haulwright_jobs j on j.id = input.id and j.fence = input.fence and j.worker_id = input.worker_id
left join haulwright_effects e on e.tenant = input.tenant and e.key = input.key
where j.state || '' = 'running'
order by j.id for update of j;

-- name: record_commits
-- What several commits of held jobs came to, written when it is done. Nothing comes back for a key that is there already:
-- whoever wrote it was faster, and this transaction must not be committed.
insert into haulwright_effects (
    tenant, key, job_key, job_id, name, kind, state, fence, worker_id, result, stored, started_at, settled_at)
select tenant, key, job_key, job_id, name, 'commit', 'done', fence, worker_id, result, stored,
       (select haulwright_now(:now::bigint)), (select haulwright_now(:now::bigint))
from (select unnest(:tenant::text[]) as tenant, unnest(:key::text[]) as key, unnest(:job_key::text[]) as job_key,
             unnest(:job_id::uuid[]) as job_id, unnest(:name::text[]) as name, unnest(:fence::bigint[]) as fence,
             unnest(:worker_id::uuid[]) as worker_id, unnest(:result::text[]) as result,
             unnest(:stored::text[]) as stored
      order by 1, 2) input
on conflict (tenant, key) do nothing
returning key;

-- name: mark_unknown
update haulwright_effects set state = 'unknown', settled_at = haulwright_now(:now::bigint)
where tenant = :tenant and key = :key and state = 'intent'
returning key;

-- name: confirm_unknown
-- A person found out that it happened, and what came of it.
update haulwright_effects set state = 'done', result = :result, stored = 'inline', settled_at = haulwright_now(:now::bigint)
where tenant = :tenant and key = :key and state = 'unknown'
returning job_id, name;

-- name: deny_unknown
-- A person found out that it did not happen: as if it had never begun.
delete from haulwright_effects where tenant = :tenant and key = :key and state = 'unknown'
returning job_id, name;

-- name: forget
-- A recorded result whose artefact is gone: the effect may happen again, under the same key. Nothing comes back where the
-- result is not the one that was looked at.
update haulwright_effects
set state = 'intent', fence = :fence, worker_id = :worker_id::uuid, job_id = :job_id::uuid, tries = tries + 1, result = null,
    stored = 'inline', settled_at = null
where tenant = :tenant and key = :key and state = 'done' and tries = :tries
returning key;

-- name: of_job
select key, name, kind, state, fence, tries, started_at, settled_at, stored, result from haulwright_effects
where tenant = :tenant and job_key = :job_key
  and (:after::text is null or (started_at, name, key) > (
    select seen.started_at, seen.name, seen.key from haulwright_effects seen
    where seen.tenant = :tenant and seen.key = :after))
order by started_at, name, key limit :limit;

-- name: abandoned
-- Intents whose run is over and whose job is not active: an effect that nobody will finish.
select e.tenant, e.key, e.name, e.job_id, e.started_at from haulwright_effects e
where e.state = 'intent' and e.started_at < haulwright_now(:now::bigint) - :age_us::bigint
  and not exists (select 1 from haulwright_jobs j where j.id = e.job_id)
order by e.started_at limit :limit;

-- name: open
-- What waits for a person, or for a job that is gone: unknown effects, and intents that nobody will finish.
select e.tenant, e.key, e.name, e.job_id, case e.state when 'intent' then 'in_doubt' else e.state end, e.tries, e.started_at
from haulwright_effects e
where (e.state = 'unknown' or (e.state = 'intent' and e.started_at < haulwright_now(:now::bigint) - :age_us::bigint
       and not exists (select 1 from haulwright_jobs j where j.id = e.job_id)))
  and (:tenant::text is null or e.tenant = :tenant)
  and (:after_tenant::text is null or (e.tenant, e.key) > (:after_tenant, :after_key))
order by e.tenant, e.key limit :limit;

-- name: put_blob
insert into haulwright_blobs (tenant, key, body) values (:tenant, :key, :body)
on conflict (tenant, key) do update set body = excluded.body;

-- name: get_blob
select body from haulwright_blobs where tenant = :tenant and key = :key;

-- name: prune_blobs
delete from haulwright_blobs b using haulwright_effects e,
    (select unnest(:tenant::text[]) as tenant, unnest(:job_key::text[]) as job_key) input
where b.tenant = e.tenant and b.key = e.key and e.tenant = input.tenant and e.job_key = input.job_key;

-- name: prune
delete from haulwright_effects e
using (select unnest(:tenant::text[]) as tenant, unnest(:job_key::text[]) as job_key) input
where e.tenant = input.tenant and e.job_key = input.job_key;

-- name: prune_stages
delete from haulwright_stages s
using (select unnest(:tenant::text[]) as tenant, unnest(:job_key::text[]) as job_key) input
where s.tenant = input.tenant and s.job_key = input.job_key;

-- name: stage
select generation, machine, stage, job_id, fence from haulwright_stages
where tenant = :tenant and job_key = :job_key order by generation desc limit 1;

-- name: put_stage
insert into haulwright_stages (tenant, job_key, generation, machine, stage, job_id, fence, updated_at)
values (:tenant, :job_key, :generation, :machine, :stage, :job_id::uuid, :fence, haulwright_now(:now::bigint))
on conflict (tenant, job_key, generation) do update
    set stage = excluded.stage, job_id = excluded.job_id, fence = excluded.fence, updated_at = excluded.updated_at;
