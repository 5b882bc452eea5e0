-- Articles on SQLite.

-- name: seen
-- Which of these were ever taken in.
select s.article_id from input join brief_seen s on s.tenant = :tenant and s.article_id = input.article_id;

-- name: add
insert into brief_articles (
    tenant, id, feed_id, url, canon_version, link, guid, title, text, author, published_at, at, content_hash, seen_at,
    updated_at)
values (
    :tenant, :id, :feed_id, :url, :canon_version, :link, :guid, :title, :text, :author, :published_at,
    min(coalesce(:published_at, :now), :now), :content_hash, :now, :now)
on conflict (tenant, id) do nothing
returning id;

-- name: remember
insert into brief_seen (tenant, article_id, seen_at)
select :tenant, input.article_id, :now from input
where true
on conflict do nothing;

-- name: edit
-- What says something else than before, and only by the feed that brought it: two feeds do not overwrite each other.
update brief_articles as a
set link = input.link, guid = input.guid, title = input.title, text = input.text, author = input.author,
    published_at = input.published_at, content_hash = input.content_hash, edits = a.edits + 1, updated_at = :now
from input
where a.tenant = :tenant and a.id = input.id and a.feed_id = :feed_id and a.content_hash <> input.content_hash
returning id;

-- name: unplaced
-- The next articles that have no link of this version, in the one order that holds everywhere. Most were last placed
-- by it, which the index says already; the others may have been, before another version placed them.
select a.id, a.title, a.text, a.at from brief_articles a
where a.tenant = :tenant and a.placed is not :version
  and not exists (select 1 from brief_links l
                  where l.tenant = a.tenant and l.version = :version and l.article_id = a.id)
order by a.at, a.id limit :limit;

-- name: placed
update brief_articles as a set placed = :version from input where a.tenant = :tenant and a.id = input.article_id;

-- name: tenants_with_unplaced
select distinct a.tenant from brief_articles a
where a.placed is not :version and a.tenant > :after
  and not exists (select 1 from brief_links l
                  where l.tenant = a.tenant and l.version = :version and l.article_id = a.id)
order by a.tenant limit :limit;

-- name: brief
-- They are in a brief now, shown or not. What another brief took meanwhile does not come back.
update brief_articles as a set briefed_on = :day, shown = input.shown from input
where a.tenant = :tenant and a.id = input.article_id and a.briefed_on is null
returning id;

-- name: purgeable
-- Articles that were taken in long ago and that no brief cites, the oldest first.
select a.tenant, a.id from brief_articles a
where a.seen_at < :now - :age_us
  and not exists (select 1 from brief_citations c where c.tenant = a.tenant and c.article_id = a.id)
order by a.seen_at limit :limit;

-- name: count_purgeable
select count(*),
       coalesce(sum((select count(*) from brief_links l where l.tenant = a.tenant and l.article_id = a.id)), 0)
from brief_articles a
where a.seen_at < :now - :age_us
  and not exists (select 1 from brief_citations c where c.tenant = a.tenant and c.article_id = a.id);

-- name: purge_links
delete from brief_links where (tenant, article_id) in (select tenant, id from input) returning article_id;

-- name: purge
delete from brief_articles where (tenant, id) in (select tenant, id from input) returning id;
