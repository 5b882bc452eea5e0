-- Sources on SQLite. The same names and parameters as on PostgreSQL. The table `input` holds those who ask, the ones that
-- come back at their turn first.

-- name: pass
-- Decide for all who ask at once. Closed gates let nobody in. A breaker that has cooled down lets one probe in. Then two
-- meters count: the meter of grants is the hard bound; the line of turns keeps those who just came behind those who wait.
-- A grant may lie up to :patience_us ahead: its holder sleeps until then. A line in which nobody came for a while is void.
-- With :fenced, a run that lost its lease gets no answer, nor does who asks beside it. What is not :lasting may be lost
-- with the machine's power: it is decided only where the whole meter is over before a machine could be back, and where no
-- day's budget counts. Each part is materialized: woven into one, the same terms would be worked out again and again, for
-- more than twice the time.
update haulwright_sources as s
set granted = d.total,
    tickets = s.tickets + d.total,
    held = s.held + case when s.concurrency is null then 0 else d.total end,
    spent = d.spent_today + d.total,
    spent_day = d.day,
    met_until = case when d.total = 0 then s.met_until when s.interval_us = 0 then :now
                     when d.total > d.came_back then d.line + (d.total - d.came_back) * s.interval_us
                     else d.met + d.total * s.interval_us end,
    turns_until = case when d.total > d.came_back or d.turns > 0
                       then max(d.line, d.opens_at) + (d.total - d.came_back + d.turns) * s.interval_us
                       else s.turns_until end,
    breaker = case when d.is_probe then 'half_open' else s.breaker end,
    breaker_since = case when d.is_probe and s.breaker = 'open' then :now else s.breaker_since end,
    probe_id = case when d.is_probe then (select input.id from input where input.place = 1) else s.probe_id end,
    probe_fence = case when d.is_probe then (select input.fence from input where input.place = 1) else s.probe_fence end,
    probe_worker = case when d.is_probe then (select input.worker_id from input where input.place = 1)
                        else s.probe_worker end,
    probe_until = case when d.is_probe then :now + :probe_us else s.probe_until end,
    asked_at = :now
from (
    with asking as materialized (
        select key, interval_us, burst, concurrency, budget, breaker, met_until, turns_until, held, open_until,
            :now / 86400000000 as day, (burst - 1) * interval_us as slack_us, max(met_until, :now) as met,
            case when spent_day = :now / 86400000000 then spent else 0 end as spent_today,
            max(met_until, paused_until, parked_until, open_until) as busy_until,
            (select count(*) from input) as requesters, (select count(*) from input where input.back) as back,
            max(case when enabled then 0 else :forever end, case when breaker = 'refused' then :forever else 0 end,
                paused_until, parked_until, case when breaker = 'open' then open_until else 0 end,
                case when breaker = 'half_open' and not exists (
                    select 1 from input
                    where input.id = probe_id and input.fence = probe_fence and input.worker_id = probe_worker)
                then probe_until else 0 end) as shut_until
        from haulwright_sources
        where key = :key and (not :fenced or (select count(*) from input) = (
            select count(*) from input cross join haulwright_jobs j
            where j.id = input.id and j.fence = input.fence and j.worker_id = input.worker_id and j.state = 'running'))
          and (:lasting or budget is null and burst * interval_us <= :brief_us)
    ), room as materialized (
        select *, case when shut_until > :now then 0 else max(0, min(
            requesters, coalesce(concurrency - held, requesters), coalesce(budget - spent_today, requesters),
            case when breaker = 'closed' then requesters else 1 end)) end as room
        from asking
    ), came_back as materialized (
        select *, case when interval_us = 0 then min(back, room) else max(0, min(
            back, room, (:now + :patience_us + slack_us - met + interval_us) / interval_us)) end as came_back
        from room
    ), line as materialized (
        select *, max(met + came_back * interval_us, case
            when busy_until + max(10 * interval_us, 5000000) < :now then :now else turns_until end) as line
        from came_back
    ), total as materialized (
        select *, came_back + case when interval_us = 0 then min(requesters - back, room - came_back) else max(0, min(
            requesters - back, room - came_back,
            (:now + :patience_us + slack_us - line + interval_us) / interval_us)) end as total
        from line
    ), outcome as materialized (
        select *, total > 0 and breaker <> 'closed' as is_probe from total
    )
    select *, min(:now + :again_us, case
            when shut_until > :now then shut_until when is_probe then :now + :probe_us
            when budget is not null and spent_today + total >= budget then (day + 1) * 86400000000 else :now
        end) as opens_at,
        case when concurrency is not null and held + total >= concurrency and shut_until <= :now and not is_probe
            then 0 else requesters - total end as turns
    from outcome
) d
where s.key = d.key
returning key, enabled, interval_us, burst, concurrency, budget, breaker, met_until, turns_until, granted, tickets, held,
    spent, spent_day, paused_until, parked_until, open_until, probe_id, probe_fence, probe_worker, probe_until, asked_at;
insert into haulwright_source_permits (source, ticket, holder, fence, worker_id, expires_at)
select s.key, s.tickets - s.granted + input.place, input.id, input.fence, input.worker_id, :now + :lease_us
from input cross join haulwright_sources s
where s.key = :key and s.concurrency is not null and input.place <= s.granted and changes() = 1;

-- name: pass_unlimited
-- The same for a source that is open and limits nothing: it lets everybody in, and nothing is written. No answer means
-- that it is not like this now, or, with :fenced, that somebody lost its lease.
select s.key from haulwright_sources s
where s.key = :key and s.enabled and s.interval_us = 0 and s.concurrency is null and s.budget is null
  and s.breaker = 'closed' and max(s.paused_until, s.parked_until) <= :now
  and (not :fenced or (
    select count(*) from input cross join haulwright_jobs j
    where j.id = input.id and j.fence = input.fence and j.worker_id = input.worker_id and j.state = 'running')
    = (select count(*) from input));

-- name: claimed
-- What a job got with its claim, for a run in another process than its claim: the number of its permit, when it begins at
-- the latest, counted from the claim, how long ago the claim was, and whether it is a probe. Nothing where its permit is
-- gone.
select coalesce(p.ticket, 0), max(0, min(:patience_us, s.met_until - s.burst * s.interval_us - :leased_at)),
    :now - :leased_at, s.breaker = 'half_open' and s.probe_id = :id and s.probe_fence = :fence
        and s.probe_worker = :worker_id
from haulwright_sources s left join haulwright_source_permits p
    on p.source = s.key and p.holder = :id and p.fence = :fence and p.worker_id = :worker_id
where s.key = :key and (s.concurrency is null or p.ticket is not null)
order by p.ticket limit 1;

-- name: leave
-- What an answer says about the server, and the permit back. Only the probe closes a breaker, or opens it for longer.
update haulwright_sources as s
set held = max(0, s.held - (
        select count(*) from haulwright_source_permits p
        where p.source = :key and p.ticket = :ticket and p.holder = :id and p.fence = :fence and p.worker_id = :worker_id)),
    failure_streak = case :outcome when 'ok' then 0 when 'failed' then s.failure_streak + 1 else s.failure_streak end,
    last_success_at = case when :outcome = 'ok' then v.now else s.last_success_at end,
    last_failure_at = case when :outcome in ('failed', 'auth') then v.now else s.last_failure_at end,
    parked_until = max(s.parked_until, v.now + :park_us),
    breaker = case when v.is_refused then 'refused' when v.is_closed then 'closed'
                   when v.is_probe or v.has_tripped then 'open' else s.breaker end,
    breaker_since = case when v.is_refused and s.breaker <> 'refused' or v.is_probe or v.has_tripped then v.now
                         else s.breaker_since end,
    open_until = case
        when v.is_probe and :outcome = 'failed'
            then v.now + min(s.cool_down_us << min(s.openings, 16), max(s.cool_down_us, :longest_us))
        when v.is_probe then v.now when v.has_tripped then v.now + s.cool_down_us else s.open_until end,
    openings = case when v.is_closed then 0 when v.has_tripped or v.is_probe and :outcome = 'failed' then s.openings + 1
                    else s.openings end,
    probe_id = case when v.is_probe then null else s.probe_id end,
    updated_at = v.now
from (
    select s.key, :now as now, :outcome = 'auth' and s.credential is not null as is_refused,
        s.breaker = 'half_open' and s.probe_id = :id and s.probe_fence = :fence and s.probe_worker = :worker_id as is_probe,
        s.breaker = 'half_open' and s.probe_id = :id and s.probe_fence = :fence and s.probe_worker = :worker_id
            and :outcome in ('ok', 'answered', 'auth') as is_closed,
        s.breaker = 'closed' and :outcome = 'failed' and s.failure_streak + 1 >= s.breaker_failures as has_tripped
    from haulwright_sources s where s.key = :key
) v
where s.key = v.key
returning breaker, breaker_since = updated_at, open_until, failure_streak, parked_until,
    updated_at, concurrency is not null;
delete from haulwright_source_permits
where source = :key and ticket = :ticket and holder = :id and fence = :fence and worker_id = :worker_id;
insert into haulwright_traffic as t (source, minute, requests, failed, throttled, sent, received, busy_us)
select s.key, :now / 60000000, 1, :outcome = 'failed', :park_us > 0, :sent, :received, :busy_us
from haulwright_sources s where s.key = :key and :counts
on conflict (source, minute) do update set requests = t.requests + 1, failed = t.failed + excluded.failed,
    throttled = t.throttled + excluded.throttled, sent = t.sent + excluded.sent,
    received = t.received + excluded.received, busy_us = t.busy_us + excluded.busy_us;

-- name: leave_quietly
-- The same for several at once, where their answers change nothing for anybody: the server is well, no breaker is open,
-- and nobody waits for the permit. What it writes may be lost with the machine's power: a permit comes back with its
-- lease, and one line of traffic more or less harms nobody. So it need not wait for the disk. No answer means that
-- nothing was done; each part asks the same, for none of them changes the answer.
-- With :waking somebody may wait: the caller wakes as many as leave, in the same transaction.
update haulwright_sources as s
set held = max(0, s.held - (
        select count(*) from input cross join haulwright_source_permits p
        where p.source = :key and p.ticket = input.ticket and p.holder = input.id and p.fence = input.fence
          and p.worker_id = input.worker_id)),
    failure_streak = case when :outcome = 'ok' then 0 else s.failure_streak end,
    last_success_at = case when :outcome = 'ok' then :now else s.last_success_at end,
    updated_at = :now
where s.key = :key and s.breaker = 'closed' and (:waking or s.concurrency is null or not exists (
    select 1 from haulwright_jobs j where j.waiting_on = :gate and j.state = 'queued'))
returning concurrency is not null;
delete from haulwright_source_permits
where source = :key
  and (ticket, holder, fence, worker_id) in (
    select input.ticket, input.id, input.fence, input.worker_id from input)
  and exists (
    select 1 from haulwright_sources s where s.key = :key and s.breaker = 'closed')
  and (:waking or not exists (select 1 from haulwright_jobs j where j.waiting_on = :gate and j.state = 'queued'));
insert into haulwright_traffic as t (source, minute, requests, failed, throttled, sent, received, busy_us)
select s.key, :now / 60000000, :requests, 0, 0, :sent, :received, :busy_us
from haulwright_sources s
where :requests > 0 and s.key = :key and s.breaker = 'closed' and (:waking or s.concurrency is null or not exists (
    select 1 from haulwright_jobs j where j.waiting_on = :gate and j.state = 'queued'))
on conflict (source, minute) do update set requests = t.requests + excluded.requests, sent = t.sent + excluded.sent,
    received = t.received + excluded.received, busy_us = t.busy_us + excluded.busy_us;

-- name: give_back
-- The permits and probes of leases that ended, whoever held them.
update haulwright_sources as s
set held = max(0, s.held - freed.permits),
    breaker = case when s.breaker = 'half_open' and freed.probes > 0 then 'open' else s.breaker end,
    granted = freed.permits, updated_at = :now
from (
    select key, sum(permits) as permits, sum(probes) as probes
    from (select p.source as key, 1 as permits, 0 as probes
          from input cross join haulwright_source_permits p
          where p.holder = input.id and p.fence = input.fence and p.worker_id = input.worker_id
          union all
          select s.key, 0, 1 from input cross join haulwright_sources s
          where s.probe_id = input.id and s.probe_fence = input.fence and s.probe_worker = input.worker_id)
    group by key
) freed
where s.key = freed.key
returning key, granted;
delete from haulwright_source_permits where (source, ticket) in (
    select p.source, p.ticket from input cross join haulwright_source_permits p
    where p.holder = input.id and p.fence = input.fence and p.worker_id = input.worker_id);

-- name: drop_gone
-- Permits whose time is over, or whose job does not run under their fence any more. A permit that this statement sees was
-- taken by a job whose claim it sees as well, so a live one is never dropped.
update haulwright_sources as s
set held = max(0, s.held - stale.permits), granted = stale.permits
from (
    select count(*) as permits from haulwright_source_permits p
    where p.source = :key and (p.expires_at <= :now or p.expires_at is null and not exists (
        select 1 from haulwright_jobs j
        where j.id = p.holder and j.fence = p.fence and j.worker_id = p.worker_id and j.state = 'running'))
) stale
where s.key = :key and stale.permits > 0
returning granted;
delete from haulwright_source_permits where (source, ticket) in (
    select p.source, p.ticket from haulwright_source_permits p
    where p.source = :key and (p.expires_at <= :now or p.expires_at is null and not exists (
        select 1 from haulwright_jobs j
        where j.id = p.holder and j.fence = p.fence and j.worker_id = p.worker_id and j.state = 'running')));

-- name: declare
-- What the code says of a source. A new credential gives one that was refused another chance; a new rate begins with all
-- that it admits at once used up.
insert into haulwright_sources as s (
    key, declared, enabled, interval_us, burst, concurrency, budget, breaker_failures, cool_down_us, credential,
    created_at, updated_at)
values (
    :key, :declared, :enabled, :interval_us, :burst, :concurrency, :budget,
    :breaker_failures, :cool_down_us, :credential, :now, :now)
on conflict (key) do update
set declared = excluded.declared, enabled = excluded.enabled, interval_us = excluded.interval_us, burst = excluded.burst,
    concurrency = excluded.concurrency, budget = excluded.budget, breaker_failures = excluded.breaker_failures,
    cool_down_us = excluded.cool_down_us,
    met_until = min(s.met_until, excluded.updated_at + excluded.interval_us * excluded.burst),
    breaker = case when s.breaker = 'refused' and s.credential is not excluded.credential
        then 'closed' else s.breaker end,
    credential = excluded.credential, updated_at = excluded.updated_at
where s.declared <> excluded.declared or s.credential is not excluded.credential
returning key;

-- name: override
-- What a person says of a source; it holds over what the code says until it is taken back.
update haulwright_sources
set overridden = :overridden, overridden_by = :actor, enabled = :enabled, interval_us = :interval_us,
    burst = :burst, concurrency = :concurrency, budget = :budget, breaker_failures = :breaker_failures,
    cool_down_us = :cool_down_us,
    met_until = min(met_until, :now + :interval_us * :burst),
    updated_at = :now
where key = :key
returning key;

-- name: pause
update haulwright_sources
set paused_at = case when paused_until > :now then paused_at else :now end,
    paused_until = min(:forever, :now + :for_us),
    paused_by = :actor, paused_reason = :reason, updated_at = :now
where key = :key
returning key;

-- name: resume
-- Everything that was closed by a person or by the breaker is open again.
update haulwright_sources
set paused_until = min(paused_until, :now), paused_at = null, paused_by = null,
    paused_reason = null, parked_until = min(parked_until, :now), breaker = 'closed',
    open_until = min(open_until, :now), openings = 0, failure_streak = 0, probe_id = null,
    updated_at = :now
where key = :key
  and (paused_until > :now or parked_until > :now or breaker <> 'closed')
returning key;

-- name: hold
-- The row of a source for the rest of a transaction, with the time by which it is read.
select declared, overridden, paused_at, paused_until, :now from haulwright_sources where key = :key;

-- name: standing
select key, enabled, interval_us, burst, concurrency, budget, breaker, met_until, turns_until, granted, tickets, held,
    spent, spent_day, paused_until, parked_until, open_until, probe_id, probe_fence, probe_worker, probe_until,
    :now
from haulwright_sources where key = :key;

-- name: list
select key, declared, overridden, overridden_by, paused_at, paused_by, paused_reason, failure_streak, last_success_at,
    last_failure_at, credential, breaker_since, created_at, updated_at
from haulwright_sources
where (:key is null or key = :key) and (:after is null or key > :after)
order by key limit :limit;

-- name: respread
-- Give waiters of a source turns of their own, the oldest first, from the moment at which it opens. A job that names the
-- source has its pauses from their record; one that asked for it in its run is given back here what the last one took.
-- There is no lateral join: the next waiters of each gate, so that all that wait are never sorted for a step.
update haulwright_jobs as j
set run_at = max(:opens_at, :opens_at + (line.place + :offset - :burst) * :interval_us),
    deadline_at = j.deadline_at + case when j.source = :key then 0 else :paused_us end, updated_at = :now
from (
    select id, row_number() over (order by id) as place
    from (
        select id from (
            select id from (select id from haulwright_jobs where waiting_on = :gates ->> 0 and state = 'queued' and id > :after
                            order by id limit :limit)
            union all
            select id from (select id from haulwright_jobs where waiting_on = :gates ->> 1 and state = 'queued' and id > :after
                            order by id limit :limit)
            union all
            select id from (select id from haulwright_jobs where waiting_on = :gates ->> 2 and state = 'queued' and id > :after
                            order by id limit :limit)
            union all
            select id from (select id from haulwright_jobs where waiting_on = :gates ->> 3 and state = 'queued' and id > :after
                            order by id limit :limit)
            union all
            select id from (select id from haulwright_jobs where waiting_on = :gates ->> 4 and state = 'queued' and id > :after
                            order by id limit :limit)
            union all
            select id from (select id from haulwright_jobs where waiting_on = :gates ->> 5 and state = 'queued' and id > :after
                            order by id limit :limit)
            union all
            select id from (select id from haulwright_jobs where waiting_on = :gates ->> 6 and state = 'queued' and id > :after
                            order by id limit :limit))
        order by id limit :limit)
) line
where j.id = line.id
returning id;

-- name: park
-- Jobs of a source that are due behind one that was refused get their turns without being claimed: of the next :limit jobs
-- of that pair, those of the source that have none yet.
update haulwright_jobs as j
set run_at = max(:opens_at, :first + (line.place - 1) * :interval_us), waiting_on = :gate,
    deferrals = j.deferrals + 1, updated_at = :now
from (
    select id, row_number() over (order by run_at, id) as place
    from (select id, run_at, source, waiting_on from haulwright_jobs
          where queue = :queue and state = 'queued' and tenant = :tenant and rank = :rank and run_at <= :now
          order by run_at, id limit :limit)
    where source = :key and waiting_on is null
) line
where j.id = line.id
returning id;

-- name: move_line
-- The line of turns ends after the last waiter.
update haulwright_sources set turns_until = :turns_until where key = :key;

-- name: traffic
select source, sum(requests), sum(failed), sum(throttled), sum(sent), sum(received), sum(busy_us)
from haulwright_traffic
where minute > :now / 60000000 - :minutes
group by source order by source;

-- name: traffic_of
-- The same of some sources: a range of the key for each, and so nothing of the others.
select source, sum(requests), sum(failed), sum(throttled), sum(sent), sum(received), sum(busy_us)
from haulwright_traffic
where minute > :now / 60000000 - :minutes and source in (select value from json_each(:keys))
group by source order by source;

-- name: prune_traffic
delete from haulwright_traffic where (source, minute) in (
    select source, minute from haulwright_traffic where minute < (:now - :age_us) / 60000000 order by minute limit :limit);
