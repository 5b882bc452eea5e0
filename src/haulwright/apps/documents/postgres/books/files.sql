-- Files on PostgreSQL: one row for each content that a tenant has.

-- name: index
-- Once for each file: what it says does not change.
update documents_files
set title = :title, text = :text, text_sha256 = :text_sha256, text_problem = :text_problem, same_as = :same_as::text,
    words = case when :same_as::text is null then array_to_tsvector(:words::text[]) end,
    indexed_at = haulwright_now(:now::bigint)
where tenant = :tenant and sha256 = :sha256 and indexed_at is null;

-- name: forget_lost
-- Another content came in the place of one that was lost: nobody waits for the old one any more. Files that said the
-- same as that one were not indexed for its sake: the reconciler finds them, and has them indexed.
with gone as (
    delete from documents_files
    where tenant = :tenant and key = :key and sha256 <> :sha256 and missing_at is not null
    returning sha256
)
update documents_files set same_as = null, text_sha256 = null, indexed_at = null
where tenant = :tenant and missing_at is null and same_as in (select sha256 from gone);

-- name: search
-- Files that have all of these words; one with a star at its end stands for those that begin with it.
select f.tenant, f.sha256, f.key, f.bytes, f.kind, f.source, f.title, f.stored_at, f.indexed_at, f.missing_at,
       f.text_problem
from documents_files f
where f.words @@ (
        select string_agg(quote_literal(rtrim(term, '*')) || case when term like '%*' then ':*' else '' end, ' & ')
        from unnest(:terms::text[]) as input (term))::tsquery
  and f.tenant = :tenant and f.missing_at is null
order by f.stored_at desc, f.sha256 limit :limit;

-- name: totals
select count(*), coalesce(sum(bytes), 0)::bigint, count(missing_at) from documents_files where tenant = :tenant;
