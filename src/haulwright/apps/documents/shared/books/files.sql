-- Files: one row for each content that a tenant has.

-- name: put
-- The first artefact that brings a content keeps it; the key that comes back says whose it is.
insert into documents_files (tenant, sha256, key, bytes, kind, source, title, stored_at)
values (:tenant, :sha256, :key, :bytes, :kind, :source, :title, haulwright_now(:now))
on conflict (tenant, sha256) do update set missing_at = null
returning key;

-- name: get
select tenant, sha256, key, bytes, kind, source, title, stored_at, indexed_at, missing_at, text_problem
from documents_files where tenant = :tenant and sha256 = :sha256;

-- name: text
select text from documents_files where tenant = :tenant and sha256 = :sha256;

-- name: beginning
-- Files whose hash begins so; two are enough to say that it is not plain which one is meant.
select tenant, sha256, key, bytes, kind, source, title, stored_at, indexed_at, missing_at, text_problem
from documents_files
where tenant = :tenant and sha256 >= :beginning and sha256 < :end
order by sha256 limit 2;

-- name: page
-- Files in the order of their hashes, after one.
select sha256, key, bytes, missing_at from documents_files
where tenant = :tenant and sha256 > :after
order by sha256 limit :limit;

-- name: with_text
-- The first file of a tenant that says the same.
select sha256, key from documents_files
where tenant = :tenant and text_sha256 = :text_sha256 and sha256 <> :sha256 and same_as is null and missing_at is null
order by id limit 1;

-- name: lose
update documents_files set missing_at = haulwright_now(:now)
where tenant = :tenant and sha256 = :sha256 and missing_at is null
returning key;
