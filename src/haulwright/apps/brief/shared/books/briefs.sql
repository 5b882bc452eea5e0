-- Briefs. What was withdrawn does not count.

-- name: publish
-- The next edition of a day; nothing comes back where the day has a brief that counts.
insert into brief_briefs (tenant, day, edition, version, document, articles, events, published_at)
select :tenant, :day, (select coalesce(max(b.edition), 0) + 1 from brief_briefs b where b.tenant = :tenant and b.day = :day),
       :version, :document, :articles, :events, haulwright_now(:now)
where not exists (select 1 from brief_current c where c.tenant = :tenant and c.day = :day)
on conflict do nothing
returning edition;

-- name: withdraw
insert into brief_withdrawals (tenant, day, edition, actor, reason, withdrawn_at)
values (:tenant, :day, :edition, :actor, :reason, haulwright_now(:now))
on conflict do nothing
returning edition;

-- name: get
select day, document, published_at from brief_current where tenant = :tenant and day = :day;

-- name: newest
select day, document, published_at, edition, events, articles from brief_current
where tenant = :tenant order by day desc limit 1;

-- name: list
select day, events, articles, published_at, edition from brief_current
where tenant = :tenant order by day desc limit :limit;

-- name: beside
-- The days of the briefs before and after a day.
select (select max(day) from brief_current where tenant = :tenant and day < :day),
       (select min(day) from brief_current where tenant = :tenant and day > :day);
