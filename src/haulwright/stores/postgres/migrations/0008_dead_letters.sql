-- The newest dead letters of all tenants, for whoever runs the installation: few of a long history, found without it.
create index haulwright_history_dead_newest on haulwright_history (id) where state = 'dead';
