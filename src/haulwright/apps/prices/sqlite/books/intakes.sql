-- Intakes on SQLite.

-- name: lock
-- One at a time may add points to an intake and value it: here, whoever writes has the whole file for itself.
select intake_id from prices_intakes where tenant = :tenant and intake_id = :intake_id;
