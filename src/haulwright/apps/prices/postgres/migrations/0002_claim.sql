-- The claim of the document as a function of the database, for workers in other languages. It does what the engine's claim
-- does, in the transaction of its caller: tenants take turns, the gate of the source is asked, a job comes under a new fence
-- with its holder, and its start is written. Names are resolved as they were when this file was applied.

-- Whom each worker that claims by this function served last.
create table prices_claim_turns (
    worker_id   uuid not null primary key references haulwright_workers (id) on delete cascade,
    last_tenant text collate "C" not null
);

-- Who holds what is claimed under a name: a worker of its own with every start of the server. One that was put back, to
-- a replica or a backup that missed a claim, gives the same fence out again, and is another start (decision 14).
create function haulwright_prices_worker(worker_name text, at bigint) returns uuid language plpgsql
set search_path from current as $$
declare
    started constant bigint := (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint;
    digest constant text := md5(started || '/' || worker_name);
    holder constant uuid :=
        (lpad(to_hex(started / 1000), 12, '0') || '7' || left(digest, 3) || '8' || substr(digest, 4, 15))::uuid;
begin
    if coalesce(btrim(worker_name), '') = '' then
        raise exception 'worker_id is empty: give the name of the worker, such as its host' using errcode = '22023';
    end if;
    insert into haulwright_workers as w (
        id, name, host, boot_id, pid, pid_started, version, queues, tasks, started_at, seen_at)
    values (holder, worker_name, 'sql', 'postgres/' || started, 0, '', 'sql', '["prices"]', '["prices.collect"]',
            haulwright_now(at), haulwright_now(at))
    on conflict (id) do nothing;
    if found then
        insert into haulwright_events (at, tenant, name, worker, data)
        values (haulwright_now(at), 'default', 'worker.started', holder::text, json_build_object(
            'worker', worker_name, 'host', 'sql', 'pid', 0, 'queues', json_build_array('prices'))::text);
    else
        update haulwright_workers set seen_at = haulwright_now(at), beats = beats + 1 where id = holder;
    end if;
    return holder;
end $$;

-- Asks the gate of a source for one job, whose request may begin at once: the entry `sources.pass` of the engine for a lone
-- requester without patience, and what the engine reads from its answer. Null where the job may run, and what is not known
-- is not governed; else the gate that is closed, and for how long.
create function haulwright_prices_pass(
    source_key text, job_id uuid, job_fence bigint, holder uuid, deferrals integer, at bigint,
    out gate text, out wait_us bigint
) language plpgsql set search_path from current set enable_seqscan to off as $$
declare
    forever constant bigint := 253402300800000000;
    moment constant bigint := haulwright_now(at);
    today constant bigint := moment / 86400000000;
    again_at constant bigint := moment + 86400000000;
    back constant bigint := (deferrals > 0)::int;
    s haulwright_sources%rowtype;
    gone bigint;
    slack bigint; meter bigint; line bigint; busy_until bigint; shut_until bigint; opens_at bigint; spent_today bigint;
    room bigint; came_back bigint; total bigint; turns bigint; closed_until bigint; is_probe boolean;
begin
    select * into s from haulwright_sources where key = source_key for update;
    if not found then
        return;
    end if;
    if s.held >= s.concurrency then  -- of some, the holders may be gone: the entry `drop_gone`
        with deleted as (
            delete from haulwright_source_permits p
            where p.source = source_key and (p.expires_at <= moment or p.expires_at is null and not exists (
                select 1 from haulwright_jobs j
                where j.id = p.holder and j.fence = p.fence and j.worker_id = p.worker_id and j.state || '' = 'running'))
            returning 1)
        select count(*) into gone from deleted;
        s.held := greatest(0, s.held - gone);
    end if;
    slack := (s.burst - 1) * s.interval_us;
    meter := greatest(s.met_until, moment);
    spent_today := case when s.spent_day = today then s.spent else 0 end;
    busy_until := greatest(s.met_until, s.paused_until, s.parked_until, s.open_until);
    shut_until := greatest(case when s.enabled then 0 else forever end, s.paused_until, s.parked_until,
        case s.breaker when 'refused' then forever when 'open' then s.open_until when 'half_open' then s.probe_until
                       else 0 end);
    room := case when shut_until > moment then 0 else greatest(0, least(
        1, coalesce(s.concurrency - s.held, 1), coalesce(s.budget - spent_today, 1))) end;
    came_back := case when s.interval_us = 0 then least(back, room)
        else greatest(0, least(back, room, (moment + slack - meter + s.interval_us) / s.interval_us)) end;
    line := greatest(meter + came_back * s.interval_us,
        case when busy_until + greatest(10 * s.interval_us, 5000000) < moment then moment else s.turns_until end);
    total := came_back + case when s.interval_us = 0 then least(1 - back, room - came_back)
        else greatest(0, least(1 - back, room - came_back, (moment + slack - line + s.interval_us) / s.interval_us)) end;
    is_probe := total > 0 and s.breaker <> 'closed';
    opens_at := least(again_at, case when shut_until > moment then shut_until when is_probe then moment + 120000000
        when s.budget is not null and spent_today + total >= s.budget then (today + 1) * 86400000000 else moment end);
    turns := case when s.concurrency is not null and s.held + total >= s.concurrency and shut_until <= moment
                       and not is_probe then 0 else 1 - total end;
    s.met_until := case when total = 0 then s.met_until when s.interval_us = 0 then moment
        when total > came_back then line + s.interval_us else meter + s.interval_us end;
    if total > came_back or turns > 0 then
        s.turns_until := greatest(line, opens_at) + (total - came_back + turns) * s.interval_us;
    end if;
    if is_probe then
        s.breaker_since := case when s.breaker = 'open' then moment else s.breaker_since end;
        s.breaker := 'half_open';
        s.probe_id := job_id;
        s.probe_fence := job_fence;
        s.probe_worker := holder;
        s.probe_until := moment + 120000000;
    end if;
    s.granted := total;
    s.tickets := s.tickets + total;
    s.spent := spent_today + total;
    if s.concurrency is not null and total = 1 then
        insert into haulwright_source_permits (source, ticket, holder, fence, worker_id)
        values (source_key, s.tickets, job_id, job_fence, holder);
        s.held := s.held + 1;
    end if;
    update haulwright_sources set granted = s.granted, tickets = s.tickets, held = s.held, spent = s.spent,
        spent_day = today, met_until = s.met_until, turns_until = s.turns_until, breaker = s.breaker,
        breaker_since = s.breaker_since, probe_id = s.probe_id, probe_fence = s.probe_fence,
        probe_worker = s.probe_worker, probe_until = s.probe_until, asked_at = moment
    where key = source_key;
    if total = 1 then
        return;
    end if;
    select c.gate, c.until into gate, closed_until from (values  -- the last to open, and of those alike the first
        (1, 'disabled', case when s.enabled then 0 else forever end),
        (2, 'credential', case when s.breaker = 'refused' then forever else 0 end),
        (3, 'paused', s.paused_until),
        (4, 'breaker', case s.breaker when 'open' then s.open_until when 'half_open' then s.probe_until else 0 end),
        (5, 'parked', s.parked_until),
        (6, 'budget', case when s.spent >= s.budget then (today + 1) * 86400000000 else 0 end)
    ) as c (place, gate, until) where c.until > moment order by c.until desc, c.place limit 1;
    if gate is null and s.held >= s.concurrency then
        gate := 'permits';
        wait_us := least(30000000, 500000 * 2 ^ least(deferrals, 10)) * 10;
        return;
    end if;
    wait_us := greatest(least(coalesce(closed_until, moment), again_at), s.turns_until - s.interval_us - slack) - moment;
    gate := coalesce(gate, 'rate');
end $$;

-- Leases the next collection that may run, and returns its id; null where there is none. Those that find their gate closed
-- wait for it from then on, as in every claim: a hundred in one call at most, and the next one goes on behind them.
create function haulwright_prices_claim(holder uuid, holder_name text, at bigint) returns uuid language plpgsql
set search_path from current set enable_seqscan to off as $$
declare
    moment constant bigint := haulwright_now(at);
    served text collate "C" := coalesce((select t.last_tenant from prices_claim_turns t where t.worker_id = holder), '');
    tenant_now text collate "C" := served;
    rank_now smallint := 32767;
    is_around boolean := false;
    is_admitted boolean := false;
    parked integer := 0;
    looked integer := 0;
    job haulwright_jobs%rowtype;
    closed record;
begin
    if exists (select 1 from haulwright_queues q where q.name = 'prices' and q.paused_at is not null) then
        return null;
    end if;
    while parked < 100 and looked < 10000 loop  -- each step is one look at the first entry of a (tenant, rank) pair
        looked := looked + 1;
        select * into job from haulwright_jobs j
        where j.queue = 'prices' and j.state = 'queued' and (j.tenant, j.rank) > (tenant_now, rank_now)
        order by j.tenant, j.rank, j.run_at, j.id limit 1;
        if is_around and (not found or job.tenant > served) then
            return null;
        elsif not found then
            is_around := true;
            tenant_now := '';
            continue;
        end if;
        tenant_now := job.tenant;
        rank_now := job.rank;
        while parked < 100 loop
            select * into job from haulwright_jobs j
            where j.queue = 'prices' and j.state = 'queued' and j.tenant = tenant_now and j.rank = rank_now
              and j.run_at <= moment and j.task = 'prices.collect' and j.concurrency_key is null
            order by j.run_at, j.id limit 1 for update skip locked;
            exit when not found;
            closed := haulwright_prices_pass(job.source, job.id, job.fence + 1, holder, job.deferrals, at);
            is_admitted := closed.gate is null;
            exit when is_admitted;
            parked := parked + 1;
            update haulwright_jobs
            set run_at = moment + closed.wait_us, waiting_on = 'source:' || job.source || ':' || closed.gate,
                deferrals = job.deferrals + 1, updated_at = moment
            where id = job.id;
            insert into haulwright_events (at, tenant, name, job_id, attempt, fence, worker, data)
            values (moment, job.tenant, 'job.snoozed', job.id, job.attempts + 1, job.fence, holder::text, json_build_object(
                'job_id', job.id, 'delay_seconds', closed.wait_us / 1000000.0,
                'gate', 'source:' || job.source || ':' || closed.gate)::text);
        end loop;
        exit when is_admitted;
    end loop;
    insert into prices_claim_turns values (holder, tenant_now)
    on conflict (worker_id) do update set last_tenant = excluded.last_tenant;
    if not is_admitted then
        return null;
    end if;
    update haulwright_jobs
    set state = 'running', fence = job.fence + 1, attempts = job.attempts + 1, worker_id = holder, leased_at = moment,
        heartbeat_at = moment, lease_expires_at = moment + job.lease_us, waiting_on = null,
        started_at = coalesce(job.started_at, moment), updated_at = moment
    where id = job.id;
    insert into haulwright_events (at, tenant, name, job_id, attempt, fence, worker, data)
    values (moment, job.tenant, 'job.started', job.id, job.attempts + 1, job.fence + 1, holder_name, (jsonb_build_object(
        'job_id', job.id, 'attempt', job.attempts + 1, 'worker', holder_name)
        || coalesce(haulwright_json(job.event_fields)::jsonb, '{}'))::text);
    return job.id;
end $$;

-- The row of scrape_jobs that was claimed, with the fence and the holder that every write about it needs; none where
-- nothing is to be done. `at` is for tests that set the clock.
create function haulwright_f_claim_next_pending_job(worker_id text, at bigint default null)
returns table (
    id uuid, tenant text, intake_id text, source_id text, query_params jsonb, status text, attempts integer,
    retry_count integer, locked_by text, locked_at timestamptz, heartbeat_at timestamptz, next_retry_at timestamptz,
    error_message text, error_code text, created_at timestamptz, completed_at timestamptz, fence bigint, holder uuid
) language plpgsql set search_path from current set enable_seqscan to off as $$
#variable_conflict use_column
declare
    me constant uuid := haulwright_prices_worker($1, $2);
    claimed constant uuid := haulwright_prices_claim(me, $1, $2);
begin
    return query
    select v.id, v.tenant, v.intake_id, v.source_id, v.query_params, v.status, v.attempts, v.retry_count, v.locked_by,
           v.locked_at, v.heartbeat_at, v.next_retry_at, v.error_message, v.error_code, v.created_at, v.completed_at,
           j.fence, j.worker_id
    from haulwright_jobs j join haulwright_v_scrape_jobs v on v.id = j.id
    where j.id = claimed;
end $$;
