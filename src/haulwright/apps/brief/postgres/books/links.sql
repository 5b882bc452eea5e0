-- Which article belongs to which event, on PostgreSQL.

-- name: add
insert into brief_links (
    tenant, version, article_id, cluster_id, place, at, signature, similarity, nearest, duplicate_of, placed_at)
select :tenant, :version, input.article_id, input.cluster_id, input.place, input.at, input.signature, input.similarity,
       input.nearest, input.duplicate_of, haulwright_now(:now::bigint)
from unnest(:article_id::text[], :cluster_id::text[], :place::bigint[], :at::bigint[], :signature::text[],
            :similarity::float8[], :nearest::text[], :duplicate_of::text[])
     as input (article_id, cluster_id, place, at, signature, similarity, nearest, duplicate_of);
