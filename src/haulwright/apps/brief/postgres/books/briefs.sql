-- Briefs on PostgreSQL.

-- name: publish
-- Nothing comes back where the day has its brief.
insert into brief_briefs (tenant, day, version, document, articles, events, published_at)
values (:tenant, :day, :version, :document, :articles::int, :events::int, haulwright_now(:now::bigint))
on conflict do nothing
returning day;

-- name: cite
insert into brief_citations (tenant, day, article_id)
select :tenant, :day, input.article_id from unnest(:article_id::text[]) as input (article_id)
on conflict do nothing;

-- name: get
select day, document, published_at from brief_briefs where tenant = :tenant and day = :day;

-- name: newest
select day, document, published_at from brief_briefs where tenant = :tenant order by day desc limit 1;

-- name: list
select day, events, articles, published_at from brief_briefs where tenant = :tenant order by day desc limit :limit;
