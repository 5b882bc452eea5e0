-- What lists look for among millions, found without reading the others. Events of one tenant, or of one name:
create index haulwright_events_tenant on haulwright_events (tenant, seq);
create index haulwright_events_name on haulwright_events (name, seq);
-- Dead letters that wait for somebody, counted from the index alone:
create index haulwright_history_unresolved on haulwright_history (tenant, error_code)
    where state = 'dead' and requeued_to is null;
-- The few jobs that ended without a run of their own:
create index haulwright_history_unrun on haulwright_history (state, id) where state in ('cancelled', 'skipped');
