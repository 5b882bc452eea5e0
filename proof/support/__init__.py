"""What the proofs stand on: processes to kill, a diary outside the database, and one checker for all of them."""
