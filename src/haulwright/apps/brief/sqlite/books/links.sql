-- Which article belongs to which event, on SQLite.

-- name: add
insert into brief_links (
    tenant, version, article_id, cluster_id, place, at, signature, similarity, nearest, duplicate_of, placed_at)
select :tenant, :version, input.article_id, input.cluster_id, input.place, input.at, input.signature, input.similarity,
       input.nearest, input.duplicate_of, :now
from input;
