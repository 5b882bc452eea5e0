-- Articles on SQLite.

-- name: known
-- Which of these were ever taken in, and as which article.
select s.hash, s.article_id from input join brief_seen s on s.tenant = :tenant and s.hash = input.hash;

-- name: add
insert into brief_articles (
    tenant, id, feed_id, url, canon_version, link, guid, title, text, author, published_at, at, content_hash, seen_at,
    updated_at)
values (
    :tenant, :id, :feed_id, :url, :canon_version, :link, :guid, :title, :text, :author, :published_at,
    min(coalesce(:published_at, :now), :now), :content_hash, :now, :now)
on conflict do nothing
returning id;

-- name: remember
insert into brief_seen (tenant, hash, article_id, seen_at)
select :tenant, input.hash, input.article_id, :now from input
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

-- name: news
-- What was placed and has been in no brief yet, with its event and its feed, the newest first.
select l.cluster_id, a.id, a.title, a.text, a.link, a.at, a.feed_id, coalesce(f.name, a.feed_id),
       coalesce(f.weight, 1.0), l.duplicate_of is not null
from brief_articles a
join brief_links l on l.tenant = a.tenant and l.version = :version and l.article_id = a.id
left join brief_feeds f on f.tenant = a.tenant and f.id = a.feed_id
where a.tenant = :tenant and a.briefed_on is null
order by a.at desc, a.id desc limit :limit;

-- name: told_before
-- How many articles of the events that are in the news were told of in earlier briefs.
select l.cluster_id, count(*)
from brief_links l
join brief_articles a on a.tenant = l.tenant and a.id = l.article_id
where l.tenant = :tenant and l.version = :version and a.shown and l.cluster_id in (
    select n.cluster_id from brief_articles f
    join brief_links n on n.tenant = f.tenant and n.version = :version and n.article_id = f.id
    where f.tenant = :tenant and f.briefed_on is null)
group by l.cluster_id;

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
