-- Valuations on PostgreSQL. Whoever writes one holds the lock of its intake.

-- name: put
-- One valuation for each intake, and every version of it beside. One that says what the last one said is no new version.
with written as (
    insert into prices_valuations as v (
        tenant, intake_id, version, currency, basis, centre, low, high, spread, count, confidence, detail, valued_at)
    values (
        :tenant, :intake_id, 1, :currency, :basis, :centre::bigint, :low::bigint, :high::bigint, :spread::bigint,
        :count::int, :confidence::int, :detail, haulwright_now(:now::bigint))
    on conflict (tenant, intake_id) do update
    set version = v.version + 1, currency = excluded.currency, basis = excluded.basis, centre = excluded.centre,
        low = excluded.low, high = excluded.high, spread = excluded.spread, count = excluded.count,
        confidence = excluded.confidence, detail = excluded.detail, valued_at = excluded.valued_at
    where v.detail <> excluded.detail
    returning tenant, intake_id, version, detail, valued_at
)
insert into prices_valuation_versions (tenant, intake_id, version, detail, valued_at)
select tenant, intake_id, version, detail, valued_at from written
returning version;
