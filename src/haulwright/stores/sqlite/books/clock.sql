-- The time by which everything in this file is decided: the host's, unless a test set one.

-- name: now
select :now;
