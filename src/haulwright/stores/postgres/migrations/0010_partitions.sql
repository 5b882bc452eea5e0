-- Finished jobs and events in partitions, so that what is past its time goes with its file and not row by row. The tables as
-- they are become the open partitions of new ones with their names: nothing is read and nothing is written anew, however
-- many rows they have. An open partition takes everything; upkeep gives it an end when it has grown, and opens another.
-- What stands on a table by its identity is put on the new one: views, triggers, and what others may do. Indexes and keys
-- stay with each partition alone: those of the new tables could not be dropped by `pg_restore --clean`.
do $do$
declare
    part record;
    shared text[];
    statement text;
begin
    for part in select * from (values ('haulwright_history', 'id'), ('haulwright_events', 'seq')) as parts (name, key) loop
        if exists (select from pg_depend d join pg_rewrite r on r.oid = d.objid join pg_class c on c.oid = r.ev_class
                   where d.refobjid = part.name::regclass and c.relkind = 'm') then
            raise exception 'a materialized view reads %: drop it, migrate, and make it again', part.name;
        end if;
        -- As they are said of the name. The figure is the order: what a later one stands on comes before it.
        select array_agg(text order by text) into shared from (
            select '1 ' || pg_get_triggerdef(oid) as text from pg_trigger where tgrelid = part.name::regclass and not tgisinternal
            union all
            select distinct format('3 create or replace view %s%s as %s', c.oid::regclass,
                          ' with (' || array_to_string(c.reloptions, ', ') || ')', pg_get_viewdef(c.oid))
            from pg_depend d join pg_rewrite r on r.oid = d.objid join pg_class c on c.oid = r.ev_class
            where d.classid = 'pg_rewrite'::regclass and d.refclassid = 'pg_class'::regclass
              and d.refobjid = part.name::regclass and c.relkind = 'v'
            union all
            select format('4 grant %s on %I to %s%s', a.privilege_type, part.name,
                          case when a.grantee = 0 then 'public' else a.grantee::regrole::text end,
                          case when a.is_grantable then ' with grant option' else '' end)
            from pg_class c, aclexplode(c.relacl) a
            where c.oid = part.name::regclass and a.grantee <> c.relowner
              and a.grantee::regrole::text not like '%haulwright\_tenant\_%') said;

        for statement in
            select format('drop trigger %I on %I', tgname, part.name)
            from pg_trigger where tgrelid = part.name::regclass and not tgisinternal and tgtype & 1 = 1
            union all
            select distinct format('revoke all on %I from %s', part.name,
                          case when a.grantee = 0 then 'public' else a.grantee::regrole::text end)
            from pg_class c, aclexplode(c.relacl) a where c.oid = part.name::regclass and a.grantee <> c.relowner
        loop
            execute statement;
        end loop;
        execute format('alter table %I rename to %I', part.name, part.name || '_open');
        execute format('create table %I (like %I including all excluding indexes excluding identity) partition by range (%I)',
                       part.name, part.name || '_open', part.key);
        shared := shared || format('2 alter table %I attach partition %I default', part.name, part.name || '_open');
        for statement in select text from unnest(shared) as text order by left(text, 1) loop
            execute substr(statement, 3);
        end loop;
    end loop;
end $do$;

-- The numbers of events go on, from a sequence of the same name.
do $do$
declare
    next bigint;
begin
    select case when is_called then last_value + 1 else last_value end into next from haulwright_events_seq_seq;
    alter table haulwright_events_open alter column seq drop identity;
    execute format('alter table haulwright_events alter column seq add generated always as identity '
                   '(sequence name %I.haulwright_events_seq_seq start %s)', current_schema(), next);
end $do$;
