-- The lines of the user's code that the last error of a job came through, as JSON; null where it came through none.
alter table haulwright_jobs add column error_frames text;
alter table haulwright_history add column error_frames text;
