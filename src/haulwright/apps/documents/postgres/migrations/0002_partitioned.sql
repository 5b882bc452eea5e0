-- A table that the document's words stand on may be in partitions by now.
create or replace view haulwright_v__meta as
select 'schema_version' as key, schema_version::text as value, schema_version
from (
    select case when count(*) = 9 then 3 else 0 end as schema_version
    from pg_class
    where relnamespace = (select relnamespace from pg_class where oid = 'haulwright_migrations'::regclass)
        and relkind in ('r', 'p') and relname in (
            'documents_artifacts', 'documents_files', 'documents_operations', 'haulwright_jobs', 'haulwright_history',
            'haulwright_keys', 'haulwright_effects', 'haulwright_stages', 'haulwright_workers')) as present;
