-- Briefs.

-- name: publish
-- Nothing comes back where the day has its brief.
insert into brief_briefs (tenant, day, version, document, articles, events, published_at)
values (:tenant, :day, :version, :document, :articles, :events, haulwright_now(:now))
on conflict do nothing
returning day;

-- name: get
select day, document, published_at from brief_briefs where tenant = :tenant and day = :day;

-- name: newest
select day, document, published_at from brief_briefs where tenant = :tenant order by day desc limit 1;

-- name: list
select day, events, articles, published_at from brief_briefs where tenant = :tenant order by day desc limit :limit;
