"""Upgrades: workers of two versions on one database, with the migration in the middle of the load."""
