-- Which article belongs to which event.

-- name: last
-- How many articles were placed so far, and up to when they were published.
select coalesce(max(place), 0), max(at) from brief_links where tenant = :tenant and version = :version;

-- name: window
-- What was placed since a moment, in the order in which it was placed, after a place.
select article_id, signature, cluster_id, at, place from brief_links
where tenant = :tenant and version = :version and place > :after and at >= :since
order by place limit :limit;
