-- Which article belongs to which event, on PostgreSQL.

-- name: last
-- How many articles were placed so far, and up to when they were published.
select coalesce(max(place), 0), max(at) from brief_links where tenant = :tenant and version = :version;

-- name: window
-- What was placed since a moment, in the order in which it was placed, after a place.
select article_id, signature, cluster_id, at, place from brief_links
where tenant = :tenant and version = :version and place > :after and at >= :since
order by place limit :limit;

-- name: add
insert into brief_links (
    tenant, version, article_id, cluster_id, place, at, signature, similarity, nearest, duplicate_of, placed_at)
select :tenant, :version, input.article_id, input.cluster_id, input.place, input.at, input.signature, input.similarity,
       input.nearest, input.duplicate_of, haulwright_now(:now::bigint)
from unnest(:article_id::text[], :cluster_id::text[], :place::bigint[], :at::bigint[], :signature::text[],
            :similarity::float8[], :nearest::text[], :duplicate_of::text[])
     as input (article_id, cluster_id, place, at, signature, similarity, nearest, duplicate_of);
