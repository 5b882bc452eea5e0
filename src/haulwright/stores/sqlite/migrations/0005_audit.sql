-- Whether every event of a job is written when it happens: its task says so.
alter table haulwright_jobs add column audited integer not null default 0;
alter table haulwright_history add column audited integer not null default 0;
