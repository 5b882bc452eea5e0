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

-- name: find_function
-- What has the name of a function already: ours says so in its comment. Anybody's other one is somebody else's, whatever
-- it takes.
select 'function', coalesce(obj_description(p.oid, 'pg_proc') = 'Haulwright: ' || cast(:view as text), false) as ours
from pg_proc p
where p.proname = cast(:name as text)
    and (p.pronamespace = to_regnamespace(current_schema())
         or pg_function_is_visible(p.oid)
            and obj_description(p.oid, 'pg_proc') is distinct from 'Haulwright: ' || cast(:view as text))
order by ours;

-- name: own
-- Our view, or our function, that a name is for.
select c.relname::text from pg_class c where c.oid = to_regclass(cast(:view as text)) and c.relkind = 'v'
union all
select p.proname::text from pg_proc p where p.oid = to_regproc(cast(:function as text));
