-- Price points.

-- name: current
-- What is last known of every listing of an intake, the newest first.
select intake_id, source_id, dedupe_key, minor, currency, price_type, match_strength, day, title, url, observed_at
from prices_current where tenant = :tenant and intake_id = :intake_id
order by day desc, observed_at desc, source_id, dedupe_key limit :limit;

-- name: history
-- A page of the observations of an intake, after a place.
select intake_id, source_id, dedupe_key, minor, currency, price_type, match_strength, day, title, url, observed_at
from prices_points where tenant = :tenant and intake_id = :intake_id
  and (source_id, dedupe_key) > (:after_source, :after_key)
order by source_id, dedupe_key limit :limit;

-- name: release
delete from prices_quarantine where tenant = :tenant and intake_id = :intake_id and source_id = :source_id;

-- name: quarantined
select source_id, page, place, reason, excerpt
from prices_quarantine where tenant = :tenant and intake_id = :intake_id
order by source_id, page, place limit :limit;
