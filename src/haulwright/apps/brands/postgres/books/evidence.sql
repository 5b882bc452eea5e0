-- Normalized items on PostgreSQL. What was observed later wins, whoever writes last; a row of revision 1 is new.

-- name: upsert_posts
insert into brands_evidence (
    tenant, id, brand_id, connection_id, run_id, platform, capability, content_type, external_id, canonical_url,
    author, title, body, published_at, metrics, media, hashtags, links, observed_at, created_at, updated_at)
select :tenant, input.id, :brand_id::uuid, :connection_id::uuid, :run_id::uuid, :platform, :capability, :content_type,
       input.external_id, input.canonical_url, input.author, input.title, input.body, input.published_at, input.metrics,
       input.media, input.hashtags, input.links, :observed_at::bigint, haulwright_now(:now::bigint),
       haulwright_now(:now::bigint)
from unnest(:id::uuid[], :external_id::text[], :canonical_url::text[], :author::text[], :title::text[], :body::text[],
            :published_at::bigint[], :metrics::text[], :media::text[], :hashtags::text[], :links::text[])
     as input (id, external_id, canonical_url, author, title, body, published_at, metrics, media, hashtags, links)
on conflict (tenant, brand_id, platform, content_type, external_id) where platform <> 'web' do update
    set connection_id = excluded.connection_id, run_id = excluded.run_id, capability = excluded.capability,
        canonical_url = excluded.canonical_url, author = excluded.author, title = excluded.title,
        body = excluded.body, published_at = excluded.published_at, metrics = excluded.metrics,
        media = excluded.media, hashtags = excluded.hashtags, links = excluded.links,
        observed_at = excluded.observed_at, revision = brands_evidence.revision + 1, updated_at = excluded.updated_at
    where excluded.observed_at >= brands_evidence.observed_at
returning id, external_id, revision;

-- name: upsert_pages
insert into brands_evidence (
    tenant, id, brand_id, connection_id, run_id, platform, capability, content_type, external_id, canonical_url,
    author, title, body, published_at, metrics, media, hashtags, links, observed_at, created_at, updated_at)
select :tenant, input.id, :brand_id::uuid, :connection_id::uuid, :run_id::uuid, :platform, :capability, :content_type,
       input.external_id, input.canonical_url, input.author, input.title, input.body, input.published_at, input.metrics,
       input.media, input.hashtags, input.links, :observed_at::bigint, haulwright_now(:now::bigint),
       haulwright_now(:now::bigint)
from unnest(:id::uuid[], :external_id::text[], :canonical_url::text[], :author::text[], :title::text[], :body::text[],
            :published_at::bigint[], :metrics::text[], :media::text[], :hashtags::text[], :links::text[])
     as input (id, external_id, canonical_url, author, title, body, published_at, metrics, media, hashtags, links)
on conflict (tenant, brand_id, platform, content_type, canonical_url) where platform = 'web' do update
    set connection_id = excluded.connection_id, run_id = excluded.run_id, capability = excluded.capability,
        external_id = excluded.external_id, author = excluded.author, title = excluded.title,
        body = excluded.body, published_at = excluded.published_at, metrics = excluded.metrics,
        media = excluded.media, hashtags = excluded.hashtags, links = excluded.links,
        observed_at = excluded.observed_at, revision = brands_evidence.revision + 1, updated_at = excluded.updated_at
    where excluded.observed_at >= brands_evidence.observed_at
returning id, canonical_url, revision;

-- name: link
insert into brands_evidence_refs (tenant, evidence_id, run_id, item_index)
select :tenant, input.evidence_id, :run_id::uuid, input.item_index
from unnest(:evidence_id::uuid[], :item_index::int[]) as input (evidence_id, item_index)
on conflict do nothing;

-- name: of_connections
-- The newest items of some connections, so many of each, connection by connection.
select e.id, e.platform, e.capability, e.content_type, e.external_id, e.canonical_url, e.author, e.title, e.body,
       e.published_at, e.metrics, e.media, e.hashtags, e.links, e.connection_id, e.run_id
from unnest(:connection_id::uuid[]) with ordinality as input (connection_id, place)
cross join lateral (
    select * from brands_evidence
    where tenant = :tenant and brand_id = :brand_id::uuid and connection_id = input.connection_id
    order by published_at desc nulls last, id desc limit :limit) e
order by input.place, e.published_at desc nulls last, e.id desc;
