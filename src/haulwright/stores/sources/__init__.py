"""Sources in the database: what they allow, the gates before them, and the jobs that wait there."""
