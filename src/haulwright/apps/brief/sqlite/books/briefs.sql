-- Briefs on SQLite.

-- name: cite
insert into brief_citations (tenant, day, edition, article_id)
select :tenant, :day, :edition, input.article_id from input
where true
on conflict do nothing;
