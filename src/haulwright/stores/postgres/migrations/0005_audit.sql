-- Whether every event of a job is written when it happens: its task says so.
alter table haulwright_jobs add column audited boolean not null default false;
alter table haulwright_history add column audited boolean not null default false;
