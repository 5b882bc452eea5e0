-- Briefs on SQLite.

-- name: cite
insert into brief_citations (tenant, day, article_id)
select :tenant, :day, input.article_id from input
where true
on conflict do nothing;
