-- name: find
-- What has this name already on the search path, and whether it is the view that we put there, which says so in its
-- comment. One that belongs to an installation in another schema hides nothing of anybody's.
select case when c.relkind in ('r', 'p', 'f') then 'table' when c.relkind in ('v', 'm') then 'view'
            when c.relkind in ('i', 'I') then 'index' else 'relation' end as kind,
       coalesce(obj_description(c.oid, 'pg_class') = 'Haulwright: ' || cast(:view as text), false) as ours
from pg_class c
where c.oid = to_regclass(cast(:name as text))
    and (c.relnamespace = to_regnamespace(current_schema())
         or obj_description(c.oid, 'pg_class') is distinct from 'Haulwright: ' || cast(:view as text))
union all
select 'type', false
from pg_type t
where t.typname = cast(:name as text) and t.typnamespace = to_regnamespace(current_schema())
    and t.typrelid = 0 and t.typcategory <> 'A';

-- name: own
select c.relname from pg_class c where c.oid = to_regclass(cast(:view as text)) and c.relkind = 'v';
