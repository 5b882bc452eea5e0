-- Sources on PostgreSQL. Those who ask travel as arrays, the ones that come back at their turn first.

-- name: pass
-- Decide for all who ask at once. Closed gates let nobody in. A breaker that has cooled down lets one probe in. Then two
-- meters count: the meter of grants is the hard bound; the line of turns keeps those who just came behind those who wait.
-- A grant may lie up to :patience_us ahead: its holder sleeps until then. A line in which nobody came for a while is void.
-- With :fenced, a run that lost its lease gets no answer, nor does who asks beside it. The row is locked by the first part, which then sees its newest
-- version: what is decided follows from that row alone, for what other tables say may be older. Each part is
-- materialized: woven into one, the same terms would be worked out again and again, for nine times the time.
with input as (
    select unnest(:place::int[]) as place, unnest(:id::uuid[]) as id, unnest(:fence::bigint[]) as fence,
           unnest(:worker_id::uuid[]) as worker_id, unnest(:back::bool[]) as back
), latest as materialized (
    select s.key, s.enabled, s.interval_us, s.burst, s.concurrency, s.budget, s.breaker, s.breaker_since, s.met_until,
        s.turns_until, s.tickets, s.held, s.spent, s.spent_day, s.paused_until, s.parked_until, s.open_until, s.probe_id,
        s.probe_fence, s.probe_worker, s.probe_until, (select haulwright_now(:now::bigint)) as now
    from haulwright_sources s
    where s.key = :key and (not :fenced::bool or (select count(*) from input) = (
        select count(*) from input join haulwright_jobs j
            on j.id = input.id and j.fence = input.fence and j.worker_id = input.worker_id and j.state || '' = 'running'))
      and (:lasting::bool or s.budget is null and s.burst * s.interval_us <= :brief_us::bigint)
    for update of s
), asking as materialized (
    select *, now / 86400000000 as day, (burst - 1) * interval_us as slack_us, greatest(met_until, now) as met,
        case when spent_day = now / 86400000000 then spent else 0 end as spent_today,
        greatest(met_until, paused_until, parked_until, open_until) as busy_until,
        (select count(*) from input) as requesters, (select count(*) from input where input.back) as back,
        greatest(case when enabled then 0 else :forever::bigint end,
            case when breaker = 'refused' then :forever::bigint else 0 end,
            paused_until, parked_until, case when breaker = 'open' then open_until else 0 end,
            case when breaker = 'half_open' and not exists (
                select 1 from input
                where input.id = probe_id and input.fence = probe_fence and input.worker_id = probe_worker)
            then probe_until else 0 end) as shut_until
    from latest
), room as materialized (
    select *, case when shut_until > now then 0 else greatest(0, least(
        requesters, coalesce(concurrency - held, requesters), coalesce(budget - spent_today, requesters),
        case when breaker = 'closed' then requesters else 1 end)) end as room
    from asking
), came_back as materialized (
    select *, case when interval_us = 0 then least(back, room) else greatest(0, least(
        back, room, (now + :patience_us::bigint + slack_us - met + interval_us) / interval_us)) end as came_back
    from room
), line as materialized (
    select *, greatest(met + came_back * interval_us, case
        when busy_until + greatest(10 * interval_us, 5000000) < now then now else turns_until end) as line
    from came_back
), total as materialized (
    select *, came_back + case when interval_us = 0 then least(requesters - back, room - came_back) else greatest(0, least(
        requesters - back, room - came_back,
        (now + :patience_us::bigint + slack_us - line + interval_us) / interval_us)) end as total
    from line
), d as materialized (
    select *, total > 0 and breaker <> 'closed' as is_probe,
        least(now + :again_us::bigint, case
            when shut_until > now then shut_until when total > 0 and breaker <> 'closed' then now + :probe_us::bigint
            when budget is not null and spent_today + total >= budget then (day + 1) * 86400000000 else now
        end) as opens_at,
        case when concurrency is not null and held + total >= concurrency and shut_until <= now
                  and not (total > 0 and breaker <> 'closed')
            then 0 else requesters - total end as turns
    from total
), permits as (
    insert into haulwright_source_permits (source, ticket, holder, fence, worker_id, expires_at)
    select d.key, d.tickets + input.place, input.id, input.fence, input.worker_id, d.now + :lease_us::bigint
    from input cross join d
    where d.concurrency is not null and input.place <= d.total
)
update haulwright_sources s
set granted = d.total,
    tickets = d.tickets + d.total,
    held = d.held + case when d.concurrency is null then 0 else d.total end,
    spent = d.spent_today + d.total,
    spent_day = d.day,
    met_until = case when d.total = 0 then d.met_until when d.interval_us = 0 then d.now
                     when d.total > d.came_back then d.line + (d.total - d.came_back) * d.interval_us
                     else d.met + d.total * d.interval_us end,
    turns_until = case when d.total > d.came_back or d.turns > 0
                       then greatest(d.line, d.opens_at) + (d.total - d.came_back + d.turns) * d.interval_us
                       else d.turns_until end,
    breaker = case when d.is_probe then 'half_open' else d.breaker end,
    breaker_since = case when d.is_probe and d.breaker = 'open' then d.now else d.breaker_since end,
    probe_id = case when d.is_probe then (select input.id from input where input.place = 1) else d.probe_id end,
    probe_fence = case when d.is_probe then (select input.fence from input where input.place = 1) else d.probe_fence end,
    probe_worker = case when d.is_probe then (select input.worker_id from input where input.place = 1)
                        else d.probe_worker end,
    probe_until = case when d.is_probe then d.now + :probe_us::bigint else d.probe_until end,
    asked_at = d.now
from d
where s.key = d.key
returning s.key, s.enabled, s.interval_us, s.burst, s.concurrency, s.budget, s.breaker, s.met_until, s.turns_until,
    s.granted, s.tickets, s.held, s.spent, s.spent_day, s.paused_until, s.parked_until, s.open_until, s.probe_id,
    s.probe_fence, s.probe_worker, s.probe_until, s.asked_at;

-- name: pass_unlimited
-- The same for a source that is open and limits nothing: it lets everybody in, and nothing is written. No answer means
-- that it is not like this now, or, with :fenced, that somebody lost its lease.
select s.key from haulwright_sources s
where s.key = :key and s.enabled and s.interval_us = 0 and s.concurrency is null and s.budget is null
  and s.breaker = 'closed' and greatest(s.paused_until, s.parked_until) <= (select haulwright_now(:now::bigint))
  and (not :fenced::bool or (
    select count(*) from unnest(:id::uuid[], :fence::bigint[], :worker_id::uuid[]) as input (id, fence, worker_id)
    join haulwright_jobs j
        on j.id = input.id and j.fence = input.fence and j.worker_id = input.worker_id and j.state || '' = 'running')
    = cardinality(:id::uuid[]));

-- name: claimed
-- What a job got with its claim, for a run in another process than its claim: the number of its permit, when it begins at
-- the latest, counted from the claim, how long ago the claim was, and whether it is a probe. Nothing where its permit is
-- gone.
select coalesce(p.ticket, 0),
    greatest(0, least(:patience_us::bigint, s.met_until - s.burst * s.interval_us - :leased_at::bigint)),
    haulwright_now(:now::bigint) - :leased_at::bigint,
    s.breaker = 'half_open' and s.probe_id = :id::uuid and s.probe_fence = :fence::bigint
        and s.probe_worker = :worker_id::uuid
from haulwright_sources s left join haulwright_source_permits p
    on p.source = s.key and p.holder = :id::uuid and p.fence = :fence::bigint and p.worker_id = :worker_id::uuid
where s.key = :key and (s.concurrency is null or p.ticket is not null)
order by p.ticket limit 1;

-- name: leave
-- What an answer says about the server, and the permit back. Only the probe closes a breaker, or opens it for longer.
with deleted as (
    delete from haulwright_source_permits
    where source = :key and ticket = :ticket::bigint and holder = :id::uuid and fence = :fence::bigint
      and worker_id = :worker_id::uuid
    returning ticket
), counted as (
    insert into haulwright_traffic as t (source, minute, requests, failed, throttled, sent, received, busy_us)
    select s.key, haulwright_now(:now::bigint) / 60000000, 1, (:outcome = 'failed')::int, (:park_us::bigint > 0)::int,
        :sent::bigint, :received::bigint, :busy_us::bigint
    from haulwright_sources s where s.key = :key and :counts::bool
    on conflict (source, minute) do update set requests = t.requests + 1, failed = t.failed + excluded.failed,
        throttled = t.throttled + excluded.throttled, sent = t.sent + excluded.sent,
        received = t.received + excluded.received, busy_us = t.busy_us + excluded.busy_us
), v as materialized (
    select s.key, (select haulwright_now(:now::bigint)) as now, :outcome = 'auth' and s.credential is not null as is_refused,
        s.breaker = 'half_open' and s.probe_id = :id::uuid and s.probe_fence = :fence::bigint
            and s.probe_worker = :worker_id::uuid as is_probe,
        s.breaker = 'half_open' and s.probe_id = :id::uuid and s.probe_fence = :fence::bigint
            and s.probe_worker = :worker_id::uuid and :outcome in ('ok', 'answered', 'auth') as is_closed,
        s.breaker = 'closed' and :outcome = 'failed' and s.failure_streak + 1 >= s.breaker_failures as has_tripped
    from haulwright_sources s where s.key = :key for update
)
update haulwright_sources s
set held = greatest(0, s.held - (select count(*) from deleted)),
    failure_streak = case :outcome when 'ok' then 0 when 'failed' then s.failure_streak + 1 else s.failure_streak end,
    last_success_at = case when :outcome = 'ok' then v.now else s.last_success_at end,
    last_failure_at = case when :outcome in ('failed', 'auth') then v.now else s.last_failure_at end,
    parked_until = greatest(s.parked_until, v.now + :park_us::bigint),
    breaker = case when v.is_refused then 'refused' when v.is_closed then 'closed'
                   when v.is_probe or v.has_tripped then 'open' else s.breaker end,
    breaker_since = case when v.is_refused and s.breaker <> 'refused' or v.is_probe or v.has_tripped then v.now
                         else s.breaker_since end,
    open_until = case
        when v.is_probe and :outcome = 'failed'
            then v.now + least(s.cool_down_us << least(s.openings, 16)::int, greatest(s.cool_down_us, :longest_us::bigint))
        when v.is_probe then v.now when v.has_tripped then v.now + s.cool_down_us else s.open_until end,
    openings = case when v.is_closed then 0 when v.has_tripped or v.is_probe and :outcome = 'failed' then s.openings + 1
                    else s.openings end,
    probe_id = case when v.is_probe then null else s.probe_id end,
    updated_at = v.now
from v
where s.key = v.key
returning s.breaker, s.breaker_since = s.updated_at, s.open_until, s.failure_streak, s.parked_until,
    s.updated_at, s.concurrency is not null;

-- name: leave_quietly
-- The same for several at once, where their answers change nothing for anybody: the server is well, no breaker is open,
-- and nobody waits for the permit. What it writes may be lost with a crash of the server: a permit comes back with its
-- lease, and one line of traffic more or less harms nobody. So it does not wait for the disk. No answer means that
-- nothing was done. While all permits are out it does nothing either: who has just lined up for one may be too new to be
-- seen from here. With :waking somebody may wait: the caller wakes as many as leave, in the same transaction.
with v as materialized (
    select s.key, (select haulwright_now(:now::bigint)) as now, set_config('synchronous_commit', 'off', true)
    from haulwright_sources s
    where s.key = :key and s.breaker = 'closed' and (:waking::bool or s.concurrency is null
        or s.held < s.concurrency and not exists (
            select 1 from haulwright_jobs j where j.waiting_on = :gate and j.state = 'queued'))
    for update of s
), deleted as (
    delete from haulwright_source_permits p using v, (
        select unnest(:ticket::bigint[]) as ticket, unnest(:id::uuid[]) as id, unnest(:fence::bigint[]) as fence,
               unnest(:worker_id::uuid[]) as worker_id) input
    where p.source = v.key and p.ticket = input.ticket and p.holder = input.id and p.fence = input.fence
      and p.worker_id = input.worker_id
    returning p.ticket
), counted as (
    insert into haulwright_traffic as t (source, minute, requests, failed, throttled, sent, received, busy_us)
    select v.key, v.now / 60000000, :requests::bigint, 0, 0, :sent::bigint, :received::bigint, :busy_us::bigint
    from v where :requests > 0
    on conflict (source, minute) do update set requests = t.requests + excluded.requests, sent = t.sent + excluded.sent,
        received = t.received + excluded.received, busy_us = t.busy_us + excluded.busy_us
)
update haulwright_sources s
set held = greatest(0, s.held - (select count(*) from deleted)),
    failure_streak = case when :outcome = 'ok' then 0 else s.failure_streak end,
    last_success_at = case when :outcome = 'ok' then v.now else s.last_success_at end,
    updated_at = v.now
from v
where s.key = v.key
returning s.concurrency is not null;

-- name: give_back
-- The permits and probes of leases that ended, whoever held them.
with input as (
    select unnest(:id::uuid[]) as id, unnest(:fence::bigint[]) as fence, unnest(:worker_id::uuid[]) as worker_id
), deleted as (
    delete from haulwright_source_permits p using input
    where p.holder = input.id and p.fence = input.fence and p.worker_id = input.worker_id
    returning p.source
), freed as (
    select key, sum(permits) as permits
    from (select source as key, 1 as permits from deleted
          union all
          select s.key, 0 from haulwright_sources s join input
              on s.probe_id = input.id and s.probe_fence = input.fence and s.probe_worker = input.worker_id) ended
    group by key
), locked as materialized (
    select s.key from haulwright_sources s join freed on s.key = freed.key order by s.key for update of s
)
update haulwright_sources s
set held = greatest(0, s.held - freed.permits),
    breaker = case when s.breaker = 'half_open' and exists (
        select 1 from input
        where input.id = s.probe_id and input.fence = s.probe_fence and input.worker_id = s.probe_worker) then 'open' else s.breaker end,
    granted = freed.permits, updated_at = haulwright_now(:now::bigint)
from freed join locked on locked.key = freed.key
where s.key = freed.key
returning s.key, s.granted;

-- name: drop_gone
-- Permits whose time is over, or whose job does not run under their fence any more. A permit that this statement sees was
-- taken by a job whose claim it sees as well, so a live one is never dropped.
with deleted as (
    delete from haulwright_source_permits p
    where p.source = :key and (p.expires_at <= haulwright_now(:now::bigint) or p.expires_at is null and not exists (
        select 1 from haulwright_jobs j
        where j.id = p.holder and j.fence = p.fence and j.worker_id = p.worker_id and j.state || '' = 'running'))
    returning p.ticket
)
update haulwright_sources s
set held = greatest(0, s.held - (select count(*) from deleted)), granted = (select count(*) from deleted)
where s.key = :key and exists (select 1 from deleted)
returning s.granted;

-- name: declare
-- What the code says of a source. A new credential gives one that was refused another chance; a new rate begins with all
-- that it admits at once used up.
insert into haulwright_sources as s (
    key, declared, enabled, interval_us, burst, concurrency, budget, breaker_failures, cool_down_us, credential,
    created_at, updated_at)
values (
    :key, :declared, :enabled::bool, :interval_us::bigint, :burst::bigint, :concurrency::bigint, :budget::bigint,
    :breaker_failures::bigint, :cool_down_us::bigint, :credential, haulwright_now(:now::bigint), haulwright_now(:now::bigint))
on conflict (key) do update
set declared = excluded.declared, enabled = excluded.enabled, interval_us = excluded.interval_us, burst = excluded.burst,
    concurrency = excluded.concurrency, budget = excluded.budget, breaker_failures = excluded.breaker_failures,
    cool_down_us = excluded.cool_down_us,
    met_until = least(s.met_until, excluded.updated_at + excluded.interval_us * excluded.burst),
    breaker = case when s.breaker = 'refused' and s.credential is distinct from excluded.credential
        then 'closed' else s.breaker end,
    credential = excluded.credential, updated_at = excluded.updated_at
where s.declared <> excluded.declared or s.credential is distinct from excluded.credential
returning key;

-- name: override
-- What a person says of a source; it holds over what the code says until it is taken back.
update haulwright_sources
set overridden = :overridden, overridden_by = :actor, enabled = :enabled::bool, interval_us = :interval_us::bigint,
    burst = :burst::bigint, concurrency = :concurrency::bigint, budget = :budget::bigint,
    breaker_failures = :breaker_failures::bigint, cool_down_us = :cool_down_us::bigint,
    met_until = least(met_until, haulwright_now(:now::bigint) + :interval_us::bigint * :burst::bigint),
    updated_at = haulwright_now(:now::bigint)
where key = :key
returning key;

-- name: pause
update haulwright_sources
set paused_at = case when paused_until > haulwright_now(:now::bigint) then paused_at else haulwright_now(:now::bigint) end,
    paused_until = least(:forever::bigint, haulwright_now(:now::bigint) + :for_us::bigint),
    paused_by = :actor, paused_reason = :reason, updated_at = haulwright_now(:now::bigint)
where key = :key
returning key;

-- name: resume
-- Everything that was closed by a person or by the breaker is open again.
update haulwright_sources
set paused_until = least(paused_until, haulwright_now(:now::bigint)), paused_at = null, paused_by = null,
    paused_reason = null, parked_until = least(parked_until, haulwright_now(:now::bigint)), breaker = 'closed',
    open_until = least(open_until, haulwright_now(:now::bigint)), openings = 0, failure_streak = 0, probe_id = null,
    updated_at = haulwright_now(:now::bigint)
where key = :key
  and (paused_until > haulwright_now(:now::bigint) or parked_until > haulwright_now(:now::bigint) or breaker <> 'closed')
returning key;

-- name: hold
-- The row of a source for the rest of a transaction, with the time by which it is read.
select declared, overridden, paused_at, paused_until, haulwright_now(:now::bigint)
from haulwright_sources where key = :key for update;

-- name: standing
select key, enabled, interval_us, burst, concurrency, budget, breaker, met_until, turns_until, granted, tickets, held,
    spent, spent_day, paused_until, parked_until, open_until, probe_id, probe_fence, probe_worker, probe_until,
    haulwright_now(:now::bigint)
from haulwright_sources where key = :key;

-- name: list
select key, declared, overridden, overridden_by, paused_at, paused_by, paused_reason, failure_streak, last_success_at,
    last_failure_at, credential, breaker_since, created_at, updated_at
from haulwright_sources
where (:key::text is null or key = :key) and (:after::text is null or key collate "C" > :after)
order by key collate "C" limit :limit;

-- name: respread
-- Give waiters of a source turns of their own, the oldest first, from the moment at which it opens. A job that names the
-- source has its pauses from their record; one that asked for it in its run is given back here what the last one took.
-- The next waiters of each gate come by themselves: all that wait are never sorted for a step.
update haulwright_jobs j
set run_at = greatest(:opens_at::bigint, :opens_at::bigint
        + (line.place + :offset::bigint - :burst::bigint) * :interval_us::bigint),
    deadline_at = j.deadline_at + case when j.source = :key then 0 else :paused_us::bigint end,
    updated_at = haulwright_now(:now::bigint)
from (
    select id, row_number() over (order by id) as place
    from (select waiting.id from unnest(:gates::text[]) as gate (name)
          cross join lateral (
              select id from haulwright_jobs
              where waiting_on = gate.name and state = 'queued' and id > :after::uuid
              order by id limit :limit for update skip locked) waiting
          order by waiting.id limit :limit) waiting
) line
where j.id = line.id
returning j.id;

-- name: park
-- Jobs of a source that are due behind one that was refused get their turns without being claimed: of the next :limit jobs
-- of that pair, those of the source that have none yet.
update haulwright_jobs j
set run_at = greatest(:opens_at::bigint, :first::bigint + (line.place - 1) * :interval_us::bigint), waiting_on = :gate,
    deferrals = j.deferrals + 1, updated_at = haulwright_now(:now::bigint)
from (
    select id, row_number() over (order by run_at, id) as place
    from (select id, run_at, source, waiting_on from haulwright_jobs
          where queue = :queue and state = 'queued' and tenant = :tenant and rank = :rank::smallint
            and run_at <= (select haulwright_now(:now::bigint))
          order by run_at, id limit :limit for update skip locked) due
    where source = :key and waiting_on is null
) line
where j.id = line.id
returning j.id;

-- name: move_line
-- The line of turns ends after the last waiter.
update haulwright_sources set turns_until = :turns_until::bigint where key = :key;

-- name: traffic
select source, sum(requests), sum(failed), sum(throttled), sum(sent), sum(received), sum(busy_us)
from haulwright_traffic
where minute > haulwright_now(:now::bigint) / 60000000 - :minutes::bigint
group by source order by source;

-- name: traffic_of
-- The same of some sources: a range of the key for each, and so nothing of the others.
select source, sum(requests), sum(failed), sum(throttled), sum(sent), sum(received), sum(busy_us)
from haulwright_traffic
where minute > haulwright_now(:now::bigint) / 60000000 - :minutes::bigint and source = any(:keys::text[])
group by source order by source;

-- name: prune_traffic
delete from haulwright_traffic where ctid = any(array(
    select ctid from haulwright_traffic where minute < (haulwright_now(:now::bigint) - :age_us::bigint) / 60000000
    order by minute limit :limit));
