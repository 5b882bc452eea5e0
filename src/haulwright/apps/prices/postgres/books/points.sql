-- Price points on PostgreSQL.

-- name: put
-- Stronger, then newer: what is there already stays unless the new one matches better, or as well and was seen later.
-- Where both are equal the dearer one stays, so that the outcome does not depend on who came first.
insert into prices_points as p (
    tenant, intake_id, source_id, dedupe_key, key_version, listing_key, external_id, url, title, minor, currency,
    price_type, day, match_strength, parser_version, job_id, first_seen_at, observed_at)
select :tenant, :intake_id, :source_id, input.dedupe_key, :key_version::int, input.listing_key, input.external_id, input.url,
       input.title, input.minor, input.currency, input.price_type, input.day, input.match_strength, :parser_version::int,
       :job_id::uuid, :observed_at::bigint, :observed_at::bigint
from unnest(
    :dedupe_key::text[], :listing_key::text[], :external_id::text[], :url::text[], :title::text[], :minor::bigint[],
    :currency::text[], :price_type::text[], :day::text[], :match_strength::int[]) as input (
    dedupe_key, listing_key, external_id, url, title, minor, currency, price_type, day, match_strength)
on conflict (tenant, intake_id, source_id, dedupe_key) do update
set key_version = excluded.key_version, listing_key = excluded.listing_key, external_id = excluded.external_id,
    url = excluded.url, title = excluded.title, minor = excluded.minor, match_strength = excluded.match_strength,
    parser_version = excluded.parser_version, job_id = excluded.job_id, observed_at = excluded.observed_at
where (excluded.match_strength, excluded.observed_at, excluded.minor) > (p.match_strength, p.observed_at, p.minor)
returning dedupe_key, first_seen_at = observed_at;

-- name: drop_undated
-- A sale whose date is known now is no other than the one without a date, at the same price.
delete from prices_points p
using unnest(:dedupe_key::text[], :minor::bigint[]) as input (dedupe_key, minor)
where p.tenant = :tenant and p.intake_id = :intake_id and p.source_id = :source_id
  and p.dedupe_key = input.dedupe_key and p.minor = input.minor;

-- name: quarantine
insert into prices_quarantine (tenant, intake_id, source_id, page, place, job_id, reason, excerpt, created_at)
select :tenant, :intake_id, :source_id, input.page, input.place, :job_id::uuid, input.reason, input.excerpt,
       haulwright_now(:now::bigint)
from unnest(:page::int[], :place::int[], :reason::text[], :excerpt::text[]) as input (page, place, reason, excerpt);
