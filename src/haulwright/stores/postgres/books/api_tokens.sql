-- Tokens of programs, on PostgreSQL.

-- name: create
insert into haulwright_api_tokens (prefix, digest, name, role, tenant, created_at, created_by, expires_at)
values (:prefix, :digest, :name, :role, :tenant::text, (select haulwright_now(:now::bigint)), :created_by, :expires_at::bigint)
returning prefix, name, role, tenant, created_at, created_by, expires_at, last_used_at, revoked_at, revoked_by;

-- name: find
-- One that may be used now.
select prefix, name, role, tenant, created_at, created_by, expires_at, last_used_at, revoked_at, revoked_by
from haulwright_api_tokens
where prefix = :prefix and digest = :digest and revoked_at is null and (expires_at is null or expires_at > (select haulwright_now(:now::bigint)));

-- name: page
select prefix, name, role, tenant, created_at, created_by, expires_at, last_used_at, revoked_at, revoked_by
from haulwright_api_tokens
where prefix > :after and (:tenant::text is null or tenant = :tenant::text)
order by prefix limit :limit;

-- name: live
-- Whether anybody has one that may be used now.
select 1 from haulwright_api_tokens where revoked_at is null and (expires_at is null or expires_at > (select haulwright_now(:now::bigint))) limit 1;

-- name: touch
update haulwright_api_tokens set last_used_at = greatest(created_at, (select haulwright_now(:now::bigint))) where prefix = :prefix and coalesce(last_used_at, 0) < (select haulwright_now(:now::bigint));

-- name: revoke
update haulwright_api_tokens set revoked_at = (select haulwright_now(:now::bigint)), revoked_by = :revoked_by
where prefix = :prefix and revoked_at is null and (:tenant::text is null or tenant = :tenant::text)
returning tenant, name;
