"""The worker: claims jobs, runs them, renews and settles their leases, and does the maintenance of the database."""
