-- Intakes on PostgreSQL.

-- name: lock
-- One at a time may add points to an intake and value it. Whoever waited here sees what the others committed.
select intake_id from prices_intakes where tenant = :tenant and intake_id = :intake_id for update;
