-- Articles.

-- name: news
-- What was placed and has been in no brief yet, with its event and its feed, the newest first.
select l.cluster_id, a.id, a.title, a.text, a.link, a.at, a.feed_id, coalesce(f.name, a.feed_id),
       coalesce(f.weight, 1.0), l.duplicate_of is not null
from brief_articles a
join brief_links l on l.tenant = a.tenant and l.version = :version and l.article_id = a.id
left join brief_feeds f on f.tenant = a.tenant and f.id = a.feed_id
where a.tenant = :tenant and a.briefed_on is null
order by a.at desc, a.id desc limit :limit;

-- name: unbrief
-- Their brief was withdrawn: they are news again.
update brief_articles set briefed_on = null, shown = false where tenant = :tenant and briefed_on = :day
returning id;

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
