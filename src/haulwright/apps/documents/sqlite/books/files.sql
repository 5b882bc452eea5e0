-- Files on SQLite: one row for each content that a tenant has.

-- name: index
-- Once for each file: what it says does not change.
insert into documents_words (rowid, words)
select f.id, (select group_concat(value, ' ') from json_each(:words))
from documents_files f
where f.tenant = :tenant and f.sha256 = :sha256 and f.indexed_at is null and :same_as is null;
update documents_files
set title = :title, text = :text, text_sha256 = :text_sha256, text_problem = :text_problem, same_as = :same_as,
    indexed_at = :now
where tenant = :tenant and sha256 = :sha256 and indexed_at is null;

-- name: forget_lost
-- Another content came in the place of one that was lost: nobody waits for the old one any more. Files that said the
-- same as that one were not indexed for its sake: the reconciler finds them, and has them indexed.
update documents_files set same_as = null, text_sha256 = null, indexed_at = null
where tenant = :tenant and missing_at is null and same_as in (
    select sha256 from documents_files
    where tenant = :tenant and key = :key and sha256 <> :sha256 and missing_at is not null);
delete from documents_files
where tenant = :tenant and key = :key and sha256 <> :sha256 and missing_at is not null;

-- name: search
-- Files that have all of these words; one with a star at its end stands for those that begin with it.
select f.tenant, f.sha256, f.key, f.bytes, f.kind, f.source, f.title, f.stored_at, f.indexed_at, f.missing_at,
       f.text_problem
from documents_words w join documents_files f on f.id = w.rowid
where w.words match (
        select group_concat('"' || rtrim(value, '*') || '"' || case when value like '%*' then '*' else '' end, ' ')
        from json_each(:terms))
  and f.tenant = :tenant and f.missing_at is null
order by f.stored_at desc, f.sha256 limit :limit;

-- name: totals
select count(*), coalesce(sum(bytes), 0), coalesce(sum(missing_at is not null), 0)
from documents_files where tenant = :tenant;
