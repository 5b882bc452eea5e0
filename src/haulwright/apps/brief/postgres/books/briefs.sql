-- Briefs on PostgreSQL.

-- name: cite
insert into brief_citations (tenant, day, edition, article_id)
select :tenant, :day, :edition::int, input.article_id from unnest(:article_id::text[]) as input (article_id)
on conflict do nothing;
